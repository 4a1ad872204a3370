//! What the planner adds to the forecasts of engines, in nanoseconds. The costs of the engines
//! themselves are in `fyke_cpu::costs`.

/// What a second engine costs besides its own work, in nanoseconds per byte: 0.06 instructions when
/// counting, 0.15 with records (`mixed/snort-min4-and-20-short-pcpp`, `isa=avx2`).
pub(super) const SECOND_ENGINE: f32 = 0.02;

/// What a second engine costs for each match of either, in nanoseconds: records get new indices.
/// Most of it is a margin for haystacks with more matches than the model expects. At 0.6, sets are
/// cut for which `ac-simd` alone takes half the time
/// (`golden/snort3-community-2026.fp-zeek-nocase`). At 1.5, `golden/dict1000-kjv` is not cut and
/// takes twice the time.
pub(super) const SECOND_ENGINE_MATCH: f32 = 1.0;

/// What a second engine costs besides the costs per call of both, in nanoseconds per call
/// (490 of the rules of `replay/et-2016-pcpp`, with `cut=5`).
pub(super) const SECOND_ENGINE_CALL: f32 = 80.0;

/// The least nanoseconds per byte that a fallback is assumed to take: each entry is for tables of
/// up to that many bytes. On a hostile haystack an automaton misses caches, so it is slower than
/// its forecast (`hostile`; small tables: 30, 100 and 1,000 words of `words-american-english`).
pub(super) const FALLBACK_NS: [(u64, f32); 3] =
    [(64 << 10, 0.7), (512 << 10, 1.0), (u64::MAX, 1.7)];

/// Nanoseconds that a transition table saves per small block with a candidate (`calls`).
pub(super) const TINY_SAVES_NS: f32 = 50.0;

/// Nanoseconds to sort a match of a filter (`mixed/et-min4-zeek`, in order).
pub(super) const SORTED_MATCH: f32 = 4.0;

/// Nanoseconds to confirm or reject a candidate of each filter: time divided by candidates, over
/// the cells of `hostile`.
pub(super) const SAMPLING_CANDIDATE: f32 = 11.0;
pub(super) const FILTER_CANDIDATE: f32 = 5.0;
pub(super) const TEDDY_CANDIDATE: f32 = 7.0;

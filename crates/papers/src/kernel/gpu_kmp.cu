// Bellekens et al. 2013, III: a group searches for one pattern, each work item in its share of the
// text and M - 1 bytes.

#define ARGUMENTS \
    GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 overlap, u32 positions, u32 groups, u32 first_pattern, \
        GLOBAL const u32 *RESTRICT descriptions, GLOBAL const u8 *RESTRICT patterns, \
        GLOBAL const u16 *RESTRICT tables, GLOBAL u32 *RESTRICT found, u32 room

// The group's pattern, and the work item's share: matches that end in (from, to]. It reads from M
// - 1 bytes before.
#define SHARE \
    u32 which = first_pattern + GROUP / groups; \
    GLOBAL const u8 *pattern_here = patterns + descriptions[which * 4]; \
    u32 length = descriptions[which * 4 + 1]; \
    u32 letters = descriptions[which * 4 + 2]; \
    GLOBAL const u16 *failures_here = tables + descriptions[which * 4 + 3]; \
    GLOBAL const u8 *input = text + at; \
    u64 begin = overlap + ((u64)(GROUP % groups) * ITEMS + ITEM) * positions; \
    u32 from = begin < bytes ? (u32)begin : bytes; \
    u32 to = bytes - from < positions ? bytes : from + positions; \
    u32 i = from == to ? to : from < length - 1 ? 0 : from - (length - 1); \
    u32 read = 0

// `read` bytes of the pattern matched; this takes the next byte of the text.
#define STEP(pattern, failures) \
    u32 byte = folded(input[i], letters); \
    while (read > 0 && pattern[read] != byte) read = failures[read - 1]; \
    if (pattern[read] == byte) read++; \
    if (read == length) { \
        record(found, room, i + 1, which); \
        read = failures[read - 1]; \
    }

// The group copies the failure table and, behind it, the pattern to shared memory.
#define TO_SHARED \
    LOCAL u16 *failures = (LOCAL u16 *)words; \
    LOCAL u8 *pattern = (LOCAL u8 *)(failures + length); \
    for (u32 k = ITEM; k < length; k += ITEMS) { \
        failures[k] = failures_here[k]; \
        pattern[k] = pattern_here[k]; \
    } \
    BARRIER()

KERNEL(64) gpu_kmp_global(ARGUMENTS) {
    SHARE;
    for (; i < to; i++) {
        STEP(pattern_here, failures_here)
    }
}

KERNEL(64) gpu_kmp_shared(ARGUMENTS SHARED(words)) {
    SHARED_HERE(words)
    SHARE;
    TO_SHARED;
    for (; i < to; i++) {
        STEP(pattern, failures)
    }
}

KERNEL(64) gpu_kmp_unrolled(ARGUMENTS SHARED(words)) {
    SHARED_HERE(words)
    SHARE;
    TO_SHARED;
#pragma unroll 8
    for (; i < to; i++) {
        STEP(pattern, failures)
    }
}

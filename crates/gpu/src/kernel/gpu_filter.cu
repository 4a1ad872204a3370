// A filter in shared memory over every second or fourth position, and the verification of its
// candidates, in one kernel.
//
// A warp takes a chunk: LANES x 4 rows of 16 bytes, each lane its part of every row. It looks up
// windows of the text in a table in shared memory and keeps a bit per position, 32 bits per lane.
// Then the candidates of all lanes are queued, and each lane takes one: the window's hash is
// looked up in a second bitmap and selects a slot, which repeats the bytes that all of its entries
// have beside the window. The rest is compared with the entries, one per lane, whichever
// candidates they belong to. The loads of the next chunk are in flight meanwhile.
//
// Instructions bound it. So everything that is the same in a warp is marked so (UNIFORM), no
// prefetched value may spill, and addresses are computed by a multiplication where a shift would
// use the busier unit.
//
// The host half, engine/gpu_filter, builds this layout of tables and entries.

#define ROWS 4
#define CHUNK (LANES * ROWS * 16)
// Shared memory of a warp, in words.
#define TEXT_WORDS ((CHUNK + 32) / 4)
// Queued candidates per lane; fewer if matches of all lengths are counted, which needs shared
// memory for pairs.
#define QUEUE 8
#define SHORT_QUEUE 4
// The same in both cases for a warp of one lane, so that what follows is aligned to 16 bytes.
#define QUEUE_WORDS(queue) (LANES == 1 ? QUEUE / 2 : (queue) * LANES / 2)
// Candidates that passed both tests: 16 bytes of text, then the place, then the entries of each.
// One per lane, rounded up to an even number, so that what follows is aligned to 16 bytes.
#define SURVIVORS (LANES + LANES % 2)
#define RECORDS (2 * LANES)
#define COUNTING_WARP_WORDS(queue) (TEXT_WORDS + QUEUE_WORDS(queue) + 6 * SURVIVORS)
#define WARP_WORDS (COUNTING_WARP_WORDS(QUEUE) + 2 * RECORDS)

// Candidates of a warp after which it adds them to the group total and checks whether there are
// too many.
#define TOLD 1024u
#define NEVER (~0u)

// Numbers of no pattern that mark the ends of a run of the byte in their low bits; as in the host
// half.
#define RUN_START 0x80000000u
#define RUN_END 0xC0000000u

// What the host half says about a byte: patterns repeat it; all of these have six bytes or more;
// no pattern has a window inside of its runs.
#define RUN_BYTE 1u
#define RUN_LONG 2u
#define RUN_QUIET 4u
#define KIND_WORDS 64

// Where the second bitmap is.
#define NOWHERE 0u
#define NEAR 1u
#define FAR 2u

// Values in place of the number of entries: the number is in an entry before them; or the slot is
// split. As in the host half.
#define MANY_ENTRIES 63u
#define SPLIT 62u
// Logarithm of the parts of a split slot; as in the host half.
#define PARTS_LOG 3

// Nibble n uses the bit of 15 - n in the words of the table: the nibbles before and after a window
// share one bit, and nibble 0 would be the most frequent one to share it. As in the host half.
#define NIBBLES(bytes) (~(bytes) & 0x0f0f0f0fu)

#define SPREAD 0x9E3779B1u
#define SPREAD_3 (SPREAD << 8)
#define SPREAD_WIDE 0xC2B2AE35u
#define MIX_NIBBLES 0x85EBCA6Bu
#define MIX 0x2C1B3C6Du

typedef struct {
    GLOBAL const u8 *text;
    u32 bytes, overlap;
    LOCAL const u32 *table;
    u32 table_shift;
    // 4 and 256, hidden from the compiler, which would use shifts: lookups already have too many
    // of these.
    u32 four, byte;
    // The second bitmap, if there is one: in shared memory or in device memory.
    LOCAL const u32 *bitmap_near;
    GLOBAL const u32 *bitmap_far;
    u32 bitmap_place, bitmap_shift, slot_shift;
    // {first entry << 6 | entries, bytes beside the window that all of them share, mask, further
    // bytes and mask}.
    GLOBAL const uint4 *slots;
    GLOBAL const uint4 *entries;
    // The bytes of patterns that entries do not cover: {four bytes, mask}.
    GLOBAL const uint2 *rest;
    // For each byte RUN_BYTE, RUN_LONG and RUN_QUIET.
    LOCAL const u8 *kinds;
    GLOBAL u32 *output;
    u32 capacity;
    // Most candidates before the search gives up, or NEVER.
    u32 most;
    // For counting: matches of runs, see `count_of_edges`; for each pair of bytes the matches of
    // one and two bytes that end with it, and a mark, see `count_pairs`; the patterns of one byte;
    // patterns of three bytes, see `count_three`.
    GLOBAL const u64 *run_sums;
    LOCAL const u8 *pairs;
    GLOBAL const u32 *singles;
    GLOBAL const u32 *threes;
    u32 threes_shift;
    // Shared memory of the warp.
    LOCAL u32 *words;
    LOCAL u16 *queue;
    LOCAL uint4 *survivors;
    LOCAL uint2 *records;
} Filter;

// Appends a warp's records to the output: {records, candidates, -, -}, and then {end, pattern}
// each.
FUNCTION void flush(const Filter *f, u32 count) {
    u32 first = 0;
    if (LANE == 0) first = reserve(f->output, count);
    first = SHUFFLE(first, 0);
    WARP_SYNC();
    GLOBAL uint2 *to = (GLOBAL uint2 *)(f->output + 4);
    for (u32 i = LANE; i < count; i += LANES)
        if (first + i < f->capacity) to[first + i] = f->records[i];
    WARP_SYNC();
}

// Gathers the records of the lanes that have one; returns how many are held.
FUNCTION u32 emit(const Filter *f, u32 held, bool has, u32 end, u32 pattern) {
    u32 who = BALLOT(has);
    if (who == 0) return held;
    u32 count = POPCOUNT(who);
    if (held + count > RECORDS) {
        WARP_SYNC();
        flush(f, held);
        held = 0;
    }
    if (has) f->records[held + POPCOUNT(who & LANES_BELOW)] = UINT2(end, pattern);
    return held + count;
}

// As `emit`, for the ends of runs: where one begins and where one ends, or ~0.
FUNCTION u32 emit_edges(const Filter *f, u32 held, u32 start, u32 end, u32 byte) {
    const u32 starts = BALLOT(start != ~0u), ends = BALLOT(end != ~0u);
    const u32 first = POPCOUNT(starts), count = first + POPCOUNT(ends);
    if (held + count > RECORDS) {
        WARP_SYNC();
        flush(f, held);
        held = 0;
    }
    if (start != ~0u) f->records[held + POPCOUNT(starts & LANES_BELOW)] = UINT2(start, RUN_START | byte);
    if (end != ~0u) f->records[held + first + POPCOUNT(ends & LANES_BELOW)] = UINT2(end, RUN_END | byte);
    return held + count;
}

// How many of four bytes equal the byte that `four` repeats: from the highest down, or from the
// lowest up.
FUNCTION u32 same_from_top(u32 bytes, u32 four) {
    u32 wrong = bytes ^ four;
    return wrong ? LEADING_ZEROS(wrong) >> 3 : 4;
}
FUNCTION u32 same_from_bottom(u32 bytes, u32 four) {
    u32 wrong = bytes ^ four;
    return wrong ? (31 - LEADING_ZEROS(wrong & (0 - wrong))) >> 3 : 4;
}

// A candidate in a run of equal bytes: where the run begins and where it ends are written as
// records of no pattern, and the host pairs them. w0..w3 are the bytes from p - 6 on, x those from
// p on. Returns whether the candidate is nothing but a part of a run.
//
// Every run of six has a position p with five equal bytes around it, every run of four one with
// four; the first and the last such position find the run's ends.
FUNCTION bool edges_of_run(const Filter *f, u32 p, u32 w0, u32 w1, u32 x, u32 w2, u32 w3, u32 *start, u32 *end) {
    const u32 byte = x & 255, four = byte * 0x01010101u;
    if (((x ^ four) & 0xffffff) != 0) return false;
    const u32 kind = f->kinds[byte];
    if (!(kind & RUN_BYTE) || p + 2 >= f->bytes) return false;
    // Equal bytes beside the window, within the text.
    u32 before = same_from_top(FUNNEL(w0, w1, 16), four), after = same_from_bottom(FUNNEL(w2, w3, 8), four);
    if (before > p) before = p;
    if (after > f->bytes - (p + 3)) after = f->bytes - (p + 3);
    const bool both = before != 0 && after != 0, is_long = (kind & RUN_LONG) != 0;
    const u32 far = is_long ? 3 : 2;
    if (both || (!is_long && (before | after) != 0)) {
        if (before < far) *start = p - before;
        if (after < far) *end = p + 3 + after;
    }
    return both;
}

// Compares `checked` bytes of a pattern with the text from `from` on, four bytes at a time.
FUNCTION bool rest_matches(const Filter *f, u32 from, u32 checked, u32 at) {
    GLOBAL const u32 *text = (GLOBAL const u32 *)f->text + (from >> 2);
    const u32 by = (from & 3) * 8;
    u32 low = *text;
    for (GLOBAL const uint2 *wanted = f->rest + at, *end = wanted + (checked + 3) / 4; wanted < end; wanted++) {
        u32 high = *++text;
        uint2 here = *wanted;
        if (((FUNNEL(low, high, by) ^ here.x) & here.y) != 0) return false;
        low = high;
    }
    return true;
}

// A word of the text: from the copy in shared memory, which begins 16 bytes before the chunk, if
// it covers it.
FUNCTION u32 text_word(const Filter *f, u32 chunk, u32 at) {
    const u32 near = at + 4 - (chunk >> 2);
    return near < TEXT_WORDS ? f->words[near] : ((GLOBAL const u32 *)f->text)[at];
}

// What the two ends of a run add to the count. A run from s to e has F(e - s) matches; a table has
// F up to the longest pattern, and from there on each further byte adds one match of every
// pattern. The beginning does not need to know the end: it adds F(r) - each * (s + r) for any r
// from the longest pattern on, or for the whole run if that is shorter, and the end adds each * e.
// Matches that end within the overlap are subtracted where the run begins. A byte is described by
// {where its table is, its longest pattern, each}.
FUNCTION u64 count_of_edges(const Filter *f, u32 chunk, u32 byte, u32 start, u32 end) {
    const uint4 about = ((GLOBAL const uint4 *)f->run_sums)[byte];
    GLOBAL const u64 *sums = f->run_sums + about.x;
    const u32 longest = about.y;
    const u64 each = about.z, count = end != ~0u && end > f->overlap ? each * end : 0;
    if (start == ~0u) return count;
    const u32 before = start < f->overlap ? f->overlap - start : 0;
    u32 reached = end;
    if (end == ~0u) {
        const u32 wanted = before < longest ? longest : before + 1;
        const u32 stop = f->bytes - start > wanted ? start + wanted : f->bytes;
        // A run whose end is not found with its beginning has five bytes or more.
        u32 at = (start + 5) >> 2, wrong;
        for (;; at++) {
            wrong = text_word(f, chunk, at) ^ byte * 0x01010101u;
            if (wrong != 0 || 4 * at + 4 >= stop) break;
        }
        reached = 4 * at + (wrong ? (31 - LEADING_ZEROS(wrong & (0 - wrong))) / 8 : 4);
        if (reached > f->bytes) reached = f->bytes;
    }
    if (reached <= f->overlap) return count;
    const u32 run = reached - start, tabled = run < longest ? run : longest;
    const u64 inside = sums[tabled] + (run - tabled) * each - each * reached;
    if (before == 0) return count + inside;
    const u32 tabled_before = before < longest ? before : longest;
    return count + inside - (sums[tabled_before] + (before - tabled_before) * each);
}

// Whether an entry matches the text around a candidate. An entry has three 16-byte words: bytes,
// mask, and {pattern, length << 16 | k, offset of the rest or ~0, ids of the pattern << 16 |
// checked length << 1}, which is returned.
FUNCTION bool is_entry(const Filter *f, u32 entry, u32 p, uint4 text, uint4 *about) {
    uint4 bytes = f->entries[3 * (u64)entry], mask = f->entries[3 * (u64)entry + 1];
    u32 wrong = ((bytes.x ^ text.x) & mask.x) | ((bytes.y ^ text.y) & mask.y) | ((bytes.z ^ text.z) & mask.z) |
                ((bytes.w ^ text.w) & mask.w);
    if (wrong != 0) return false;
    uint4 a = f->entries[3 * (u64)entry + 2];
    *about = a;
    u32 length = a.y >> 16, k = a.y & 0xffff;
    if (p < k || p - k + length > f->bytes || p - k + length <= f->overlap) return false;
    return a.z == ~0u || rest_matches(f, p - k, a.w >> 1 & 0x7fff, a.z);
}

FUNCTION LOCAL u32 *places_of_survivors(const Filter *f) { return (LOCAL u32 *)(f->survivors + SURVIVORS); }
FUNCTION LOCAL u32 *entries_of_survivors(const Filter *f) { return places_of_survivors(f) + SURVIVORS; }

// The entries of a slot that a candidate is compared with: none if the bytes that all of them
// share are not in the text, whose bytes from 6 before the candidate on are w0..w2.
FUNCTION u32 entries_of_slot(const Filter *f, u32 number, u32 w0, u32 w1, u32 w2) {
    uint4 slot = f->slots[number];
    u32 beside = (w1 & 0xffff) | (w2 << 8 & 0xffff0000u), further = w0 >> 24 | (w2 >> 16 & 0xff00);
    u32 wrong = ((beside ^ slot.y) & slot.z) | ((further ^ slot.w) & slot.w >> 16);
    return wrong ? 0 : slot.x;
}

// The entries of a survivor. A split slot has the index of the byte that selects a part in its low
// bits, and above them where its parts are, behind all slots.
FUNCTION u32 entries_of_survivor(const Filter *f, u32 survivor) {
    const u32 entries = entries_of_survivors(f)[survivor];
    if ((entries & MANY_ENTRIES) != SPLIT) return entries;
    const u32 at = entries >> 6;
    const uint4 text = f->survivors[survivor];
    const u32 byte = ((LOCAL const u8 *)(f->survivors + survivor))[at & 15];
    const u32 part = (1u << (32 - f->slot_shift)) + (at >> 4 << PARTS_LOG) + (byte * SPREAD >> (32 - PARTS_LOG));
    return entries_of_slot(f, part, text.x, text.y, text.z);
}

// Compares survivors, at most LANES, with the entries of their slots, one entry per lane.
FUNCTION u32 compare(const Filter *f, u32 count, u32 held, u64 *sum, const int counts) {
    u32 entries = LANE < count ? entries_of_survivor(f, LANE) : 0;
    u32 first = entries >> 6, few = entries & MANY_ENTRIES;
    if (few == MANY_ENTRIES) few = f->entries[3 * (u64)first++].x;
    const u32 below = SUM_BELOW(few), total = SHUFFLE(below + few, LANES - 1);
    for (u32 base = 0; base < total; base += LANES) {
        // The survivor that the entry belongs to: the last one that begins at or before it.
        const u32 number = base + LANE;
        u32 owner = 0;
        UNROLL
        for (u32 by = LANES / 2; by > 0; by >>= 1) {
            const u32 next = owner + by;
            owner = SHUFFLE(below, next) <= number ? next : owner;
        }
        const u32 entry = SHUFFLE(first - below, owner) + number;
        const u32 p = places_of_survivors(f)[owner];
        uint4 about = UINT4(0, 0, 0, 0);
        const bool is = number < total && is_entry(f, entry, p, f->survivors[owner], &about);
        if (counts) *sum += is ? about.w >> 16 : 0;
        else held = emit(f, held, is, p - (about.y & 0xffff) + (about.y >> 16), about.x);
    }
    WARP_SYNC();
    return held;
}

// The survivors and records that a warp holds.
typedef struct {
    u32 waiting, held;
} State;

// The second test of candidates, one per lane, at byte `offset` of the chunk; a lane without one
// tests any.
FUNCTION void sift(const Filter *f, u32 chunk, u32 offset, bool is, State *state, u64 *sum, const int stride,
                   const int runs, const int wide, const int counts) {
    // 16 bytes of text from 6 before the candidate on; the copy begins 16 before the chunk.
    LOCAL const u32 *from = f->words + ((offset + 10) >> 2);
    const u32 by = ((offset + 10) & 3) * 8;
    u32 x0 = from[0], x1 = from[1], x2 = from[2], x3 = from[3], x4 = from[4];
    const u32 w0 = FUNNEL(x0, x1, by), w1 = FUNNEL(x1, x2, by), w2 = FUNNEL(x2, x3, by), w3 = FUNNEL(x3, x4, by);
    const u32 x = FUNNEL(w1, w2, 16), byte = x & 255;
    u32 start = ~0u, end = ~0u;
    if (runs && is) is = !edges_of_run(f, chunk + offset, w0, w1, x, w2, w3, &start, &end);
    u32 hash = x * SPREAD;
    if (stride == 2) {
        hash = x * SPREAD_3 + ((w1 >> 4 & 0xf0) | (x >> 24 & 15)) * MIX_NIBBLES;
    } else if (wide) {
        hash += FUNNEL(w2, w3, 16) * SPREAD_WIDE;
    }
    hash = (hash ^ hash >> 15) * MIX;
    if (is && f->bitmap_place != NOWHERE) {
        const u32 bit = hash >> f->bitmap_shift;
        u32 word = f->bitmap_place == NEAR ? f->bitmap_near[bit >> 5] : f->bitmap_far[bit >> 5];
        is = SHIFT_RIGHT(word, bit) & 1;
    }
    const u32 entries = is ? entries_of_slot(f, hash >> f->slot_shift, w0, w1, w2) : 0;
    if (runs && counts && (start & end) != ~0u) *sum += count_of_edges(f, chunk, byte, start, end);
    if (runs && !counts && ANY((start & end) != ~0u)) {
        state->held = emit_edges(f, state->held, start, end, byte);
    }
    const u32 who = BALLOT(entries != 0), count = POPCOUNT(who);
    if (state->waiting + count > LANES) {
        state->held = compare(f, state->waiting, state->held, sum, counts);
        state->waiting = 0;
    }
    if (entries != 0) {
        const u32 at = state->waiting + POPCOUNT(who & LANES_BELOW);
        f->survivors[at] = UINT4(w0, w1, w2, w3);
        places_of_survivors(f)[at] = chunk + offset;
        entries_of_survivors(f)[at] = entries;
    }
    state->waiting += count;
    WARP_SYNC();
}

// Looks up a lane's row: one bit for each second or fourth position, the first position highest.
FUNCTION u32 look_up_2(const Filter *f, u32 before, uint4 row, u32 after, const int runs, bool inner) {
    u32 w[6] = {before, row.x, row.y, row.z, row.w, after};
    u32 hits = 0;
    // The nibbles of bytes 1 and 3 of each word.
    u32 low = NIBBLES(before), last = BYTE_OF(low, 3);
    low = NIBBLES(w[1]);
    u32 second = BYTE_OF(low, 1);
    LOCAL const u8 *table = (LOCAL const u8 *)f->table;
    const u32 shift = f->table_shift;
    UNROLL
    for (int j = 1; j < 5; j++) {
        // Byte 3 has the nibble after the window of position 0, byte 1 the one before the window
        // of position 2.
        u32 third = BYTE_OF(low, 3);
        low = NIBBLES(w[j + 1]);
        u32 next = BYTE_OF(low, 1);
        u32 word = *(LOCAL const u32 *)(table + (w[j] * SPREAD_3 >> shift) * f->four);
        hits = hits * 2 + (SHIFT_LEFT(word, last) & SHIFT_RIGHT(word, third) & 0x8000u);
        u32 x = FUNNEL(w[j], w[j + 1], 16);
        word = *(LOCAL const u32 *)(table + (x * SPREAD_3 >> shift) * f->four);
        hits = hits * 2 + (SHIFT_LEFT(word, second) & SHIFT_RIGHT(word, next) & 0x8000u);
        last = third;
        second = next;
    }
    if (runs && (hits & hits >> 1 & hits >> 2)) {
        // Inside of a run nothing begins or ends, and mostly no pattern has a window: drop words
        // that repeat one byte between two equal ones.
        UNROLL
        for (int j = 1; j < 5; j++)
            if (inner && w[j] == w[j - 1] && w[j] == w[j + 1] && w[j] == FUNNEL(w[j], w[j], 8) && (f->kinds[w[j] & 255] & RUN_QUIET))
                hits &= ~(0x18000u << (8 - 2 * j));
    }
    return hits >> 15;
}

FUNCTION u32 look_up_4(const Filter *f, uint4 row, u32 after, const int wide) {
    u32 w[5] = {row.x, row.y, row.z, row.w, after};
    u32 hits = 0;
    UNROLL
    for (int j = 0; j < 4; j++) {
        u32 hash = w[j] * SPREAD;
        if (wide) hash += w[j + 1] * SPREAD_WIDE;
        hits = hits * 2 + (SHIFT_RIGHT(f->table[hash >> f->table_shift], hash >> 7) & 1);
    }
    return hits;
}

// Where the two pairs of a word are in their table. By the first byte alone letters would share
// few banks, so the second byte takes part. As in the host half.
#define PLACES_OF_PAIRS(word) ((word) ^ ((word) >> 6 & 0x007c007cu))

// Flag of a pair that is the rarer one of a pattern of three bytes; as in the host half.
#define MARKED 0x80u

// Adds to `count` the table's numbers for the pairs of bytes that end in a lane's row: the
// patterns that are the second byte or both bytes, and MARKED, which the caller subtracts. `marks`
// has a bit for each marked pair: after two rows, bit 8 b + i is byte b of their word i.
FUNCTION u32 count_pairs(const Filter *f, u32 before, uint4 row, u32 count, u32 *marks) {
    u32 w[5] = {before, row.x, row.y, row.z, row.w};
    UNROLL
    for (int j = 0; j < 4; j++) {
        u32 x = PLACES_OF_PAIRS(w[j + 1]), y = PLACES_OF_PAIRS(FUNNEL(w[j], w[j + 1], 24));
        u32 e = f->pairs[HALF_OF(x, 1)];
        e = e * f->byte + f->pairs[HALF_OF(y, 1)];
        e = e * f->byte + f->pairs[HALF_OF(x, 0)];
        e = e * f->byte + f->pairs[HALF_OF(y, 0)];
        count = SUM_BYTES(e, count);
        *marks = *marks >> 1 | (e & MARKED * 0x01010101u);
    }
    return count;
}

// Counts the patterns of three bytes at a marked pair: `before` is the byte before it and the
// pair, `behind` the pair and the byte behind it with BEHIND_PAIR, or NO_THREE. A word of the
// table is {ids, THREE_MORE if the next place may have another one of this pair, BEHIND_PAIR if
// the pair is the pattern's first two bytes, bytes}.
#define BEHIND_PAIR (1u << 24)
#define THREE_MORE (1u << 25)
#define THREE_IDS 26
#define NO_THREE (~0u)
FUNCTION u32 count_three(const Filter *f, u32 pair, u32 before, u32 behind) {
    u32 count = 0, at = (pair << 8) * SPREAD >> f->threes_shift;
    for (;;) {
        const u32 word = f->threes[at], key = word & (THREE_MORE - 1);
        if (key == before || key == behind) count += word >> THREE_IDS;
        if (!(word & THREE_MORE)) return count;
        at = (at + 1) & ~0u >> f->threes_shift;
    }
}

// Counts the patterns of three bytes at the marks of a chunk: those of a lane's first two rows,
// and of the other two. The marks are queued, and each lane takes one.
FUNCTION u32 count_threes(const Filter *f, u32 first, u32 second) {
    u32 count = 0, who;
    do {
        u32 total = 0;
        while ((who = BALLOT((first | second) != 0)) != 0 && total <= (SHORT_QUEUE - 1) * LANES) {
            if (first | second) {
                const u32 marks = first ? first : second, place = FIRST_BIT(marks), rest = marks ^ 0x80000000u >> place;
                f->queue[total + POPCOUNT(who & LANES_BELOW)] = (u16)(LANE << 6 | (first ? 0 : 32) | place);
                second = first ? second : rest;
                first = first ? rest : 0;
            }
            total += POPCOUNT(who);
        }
        WARP_SYNC();
        for (u32 i = LANE; i < total; i += LANES) {
            const u32 one = f->queue[i], bit = 31 - (one & 31), row = (one >> 4 & 2) + (bit >> 2 & 1);
            // The text from the byte before the pair on; the copy in shared memory begins 16 bytes
            // before the chunk.
            const u32 from = 14 + (row * LANES + (one >> 6)) * 16 + (bit & 3) * 4 + (bit >> 3);
            LOCAL const u32 *words = f->words + (from >> 2);
            const u32 text = FUNNEL(words[0], words[1], 8 * (from & 3));
            count += count_three(f, text >> 8 & 0xffff, text & 0xffffff, BEHIND_PAIR | text >> 8);
        }
        WARP_SYNC();
    } while (who != 0);
    return count;
}

// Counts patterns of one to three bytes in a chunk with the text's beginning, its end or the end
// of its overlap, where not all positions count.
FUNCTION u32 count_short_at_edge(const Filter *f, u32 chunk) {
    LOCAL const u8 *copy = (LOCAL const u8 *)f->words + 16;
    u32 count = 0;
    ROLLED
    for (u32 i = 0; i < 16 * ROWS; i++) {
        const u32 offset = (i / 16 * LANES + LANE) * 16 + i % 16, at = chunk + offset;
        if (at >= f->bytes) continue;
        if (at == 0) {
            count += f->overlap == 0 ? f->singles[copy[0]] : 0;
            continue;
        }
        LOCAL const u8 *here = copy + offset;
        const u32 pair = *(here - 1) | (u32)*here << 8, e = f->pairs[PLACES_OF_PAIRS(pair)];
        if (at >= f->overlap) count += e & (MARKED - 1);
        if (!(e & MARKED)) continue;
        const u32 before = at >= 2 && at >= f->overlap ? pair << 8 | *(here - 2) : NO_THREE;
        const u32 behind = at + 1 >= f->overlap && at + 1 < f->bytes ? BEHIND_PAIR | pair | (u32)here[1] << 16 : NO_THREE;
        count += count_three(f, pair, before, behind);
    }
    return count;
}

// Adds a warp's matches and candidates to the output: {records, candidates, matches, their upper
// half}.
FUNCTION void tell(const Filter *f, u32 seen, u64 sum) {
    u32 low = (u32)sum, high = (u32)(sum >> 32);
    UNROLL
    for (u32 by = LANES / 2; by > 0; by >>= 1) {
        u32 other = SHUFFLE(low, LANE ^ by), other_high = SHUFFLE(high, LANE ^ by);
        low += other;
        high += other_high + (low < other);
    }
    if (LANE != 0) return;
    if (seen) ATOMIC_ADD(f->output + 1, seen);
    if ((low | high) == 0) return;
    u32 had = ATOMIC_ADD(f->output + 2, low);
    high += had + low < had;
    if (high) ATOMIC_ADD(f->output + 3, high);
}

// Loads a lane's part of a chunk: its rows, and the 16 bytes before the chunk in the first lane of
// a warp or behind it in the last, in one load. A warp of one lane has both.
#define BEHIND (LANES == 1)
FUNCTION void load(GLOBAL const uint4 *from, uint4 *row, uint4 *side) {
    UNROLL
    for (int k = 0; k < ROWS; k++) row[k] = from[k * LANES];
    if (LANES == 1) {
        side[0] = *(from - 1);
        side[BEHIND] = from[ROWS];
    } else if (LANE == 0 || LANE == LANES - 1) {
        side[0] = *(LANE == 0 ? from - 1 : from + ((ROWS - 1) * LANES + 1));
    }
}

// Copies a chunk with the bytes beside it to shared memory, where candidates are tested.
FUNCTION void stage(const Filter *f, const uint4 *row, const uint4 *side) {
    LOCAL uint4 *copy = (LOCAL uint4 *)f->words;
    if (LANE == 0) copy[0] = side[0];
    if (LANE == LANES - 1) copy[1 + ROWS * LANES] = side[BEHIND];
    UNROLL
    for (int k = 0; k < ROWS; k++) copy[1 + k * LANES + LANE] = row[k];
}

// The word behind a lane's row k: the first word of the lane to the right, which is `right`, or of
// the next row. `right` becomes that of the next row.
FUNCTION u32 word_behind(const uint4 *row, const uint4 *side, int k, u32 *right) {
    u32 first = k < ROWS - 1 ? SHUFFLE(row[k < ROWS - 1 ? k + 1 : k].x, (LANE + 1) & (LANES - 1)) : side[BEHIND].x;
    u32 after = LANE < LANES - 1 ? *right : first;
    *right = first;
    return after;
}

// Looks up a chunk; `inner` if it is not one of the last. Returns the candidates: bit b from the
// top is position b * stride of the lane's 16 bytes of row b / (16 / stride). `few` and `marks`
// are those of `count_pairs`.
FUNCTION u32 look_up(const Filter *f, const uint4 *row, const uint4 *side, bool inner, u32 *few, u32 *marks, const int stride,
                     const int runs, const int wide, const int pairs) {
    u32 hits = 0, carried = side[0].w, right = SHUFFLE(row[0].x, (LANE + 1) & (LANES - 1));
    UNROLL
    for (int k = 0; k < ROWS; k++) {
        if (stride == 4) {
            u32 after = wide ? word_behind(row, side, k, &right) : 0;
            hits = hits << 4 | look_up_4(f, row[k], after, wide);
            continue;
        }
        u32 left = SHUFFLE(row[k].w, (LANE + LANES - 1) & (LANES - 1));
        u32 before = LANE ? left : carried, after = word_behind(row, side, k, &right);
        carried = left;
        if (pairs) *few = count_pairs(f, before, row[k], *few, &marks[k / 2]);
        if (stride == 2) hits = hits << 8 | look_up_2(f, before, row[k], after, runs, inner);
    }
    return stride == 4 ? hits << 16 : hits;
}

// Moves the candidates of all lanes from `hits` to the queue, or the first ones of each lane if
// not all fit. Returns the number of queued candidates.
FUNCTION u32 line_up(const Filter *f, u32 *hits, const u32 queue) {
    u32 here = *hits, count = POPCOUNT(here), below = SUM_BELOW(count), total = SHUFFLE(below + count, LANES - 1);
    if (total > queue * LANES) {
        ROLLED
        for (u32 k = 0; k < queue && *hits != 0; k++) *hits ^= 0x80000000u >> FIRST_BIT(*hits);
        here ^= *hits;
        count = POPCOUNT(here), below = SUM_BELOW(count), total = SHUFFLE(below + count, LANES - 1);
    } else {
        *hits = 0;
    }
    WARP_SYNC();
    ROLLED
    for (LOCAL u16 *to = f->queue + below; here != 0; to++) {
        const u32 place = FIRST_BIT(here);
        here ^= 0x80000000u >> place;
        *to = (u16)(LANE << 5 | place);
    }
    WARP_SYNC();
    return total;
}

FUNCTION void scan(Filter f, u32 chunks, const int stride, const int runs, const int wide, const int counts, const int pairs) {
    const u32 warps = GROUPS * (ITEMS / LANES);
    u32 chunk = GROUP * (ITEMS / LANES) + UNIFORM(WARP);
    if (chunk >= chunks) return;
    GLOBAL const uint4 *input = (GLOBAL const uint4 *)f.text + ((u64)chunk * (ROWS * LANES) + LANE);
    State state = {0, 0};
    u32 seen = 0;
    u64 sum = 0;
    uint4 row[ROWS], side[LANES == 1 ? 2 : 1];
    side[0] = side[BEHIND] = UINT4(0, 0, 0, 0);
    load(input, row, side);
    for (;;) {
        // The padding before the text must not look like part of a run.
        if (runs && chunk == 0 && LANE == 0) side[0].w = ~row[0].x;
        stage(&f, row, side);
        u32 few = 0, marks[2] = {0, 0};
        u32 hits = look_up(&f, row, side, chunk + 2 < chunks, &few, marks, stride, runs, wide, pairs);
        const u32 base = chunk * CHUNK;
        chunk += warps;
        bool more = chunk < chunks;
        if (more) {
            input += (u64)warps * (ROWS * LANES);
            load(input, row, side);
        }
        if (pairs) {
            WARP_SYNC();
            if (base == 0 || base < f.overlap || base + CHUNK >= f.bytes) {
                sum += count_short_at_edge(&f, base);
            } else {
                sum += few - MARKED * (POPCOUNT(marks[0]) + POPCOUNT(marks[1])) + count_threes(&f, marks[0], marks[1]);
            }
        }
        const u32 row_log = stride == 2 ? 3 : 2, low = (1u << row_log) - 1;
        while (stride && ANY(hits != 0)) {
            const u32 total = line_up(&f, &hits, pairs ? SHORT_QUEUE : QUEUE);
            seen += total;
            for (u32 i = 0; i < total; i += LANES) {
                bool is = i + LANE < total;
                u32 one = is ? f.queue[i + LANE] : 0, place = one & 31;
                u32 offset = (one >> 5) * 16 + (place >> row_log) * (16 * LANES) + (place & low) * stride;
                sift(&f, base, offset, is, &state, &sum, stride, runs, wide, counts);
            }
        }
        WARP_SYNC();
        if (!more) break;
        if (seen >= TOLD && f.most != NEVER) {
            u32 all = 0;
            if (LANE == 0) all = seen + ATOMIC_ADD(f.output + 1, seen);
            seen = 0;
            if (SHUFFLE(all, 0) > f.most) return;
        }
    }
    if (state.waiting) state.held = compare(&f, state.waiting, state.held, &sum, counts);
    if (state.held) {
        WARP_SYNC();
        flush(&f, state.held);
    }
    tell(&f, seen, sum);
}

#define FILTER_ARGS                                                                                                     \
    GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 overlap, GLOBAL const u32 *RESTRICT table, u32 table_shift,     \
        GLOBAL const u32 *RESTRICT bitmap, u32 bitmap_shift, u32 bitmap_place, GLOBAL const uint4 *RESTRICT slots,        \
        u32 slot_shift, u32 bitmap_at, u32 warps_at, GLOBAL const uint4 *RESTRICT entries, GLOBAL const uint2 *RESTRICT rest,                             \
        GLOBAL const u32 *RESTRICT run_kinds, GLOBAL u32 *RESTRICT output, u32 capacity, u32 most

#define PAIR_ARGS                                                                                                       \
    GLOBAL const u32 *RESTRICT pairs, GLOBAL const u32 *RESTRICT singles, GLOBAL const u32 *RESTRICT threes, u32 threes_log

#define PAIR_WORDS (65536 / 4)

#define COPY_IN(to, from, count)                                                                                        \
    for (u32 i = ITEM; i < (count); i += ITEMS) (to)[i] = (from)[i];

// Declares the filter f with the fields that all kernels use. `area` is shared memory: kinds of
// bytes, the table, the bitmap, and the memory of the warps.
#define FILTER_HERE(area, queue_of_lane, warp_words)                                                                                   \
    COPY_IN(area, run_kinds, KIND_WORDS)                                                                                \
    COPY_IN(area + KIND_WORDS, table, bitmap_at - KIND_WORDS)                                                           \
    COPY_IN((area) + bitmap_at, bitmap, warps_at - bitmap_at)                                                             \
    BARRIER();                                                                                                          \
    Filter f;                                                                                                           \
    f.text = text + at, f.bytes = bytes, f.overlap = overlap;                                                                 \
    f.kinds = (LOCAL const u8 *)(area);                                                                                 \
    f.table = area + KIND_WORDS, f.table_shift = table_shift, f.four = 4 + SHUFFLE(bitmap_at >> 31, LANE), f.byte = 64 * f.four; \
    f.bitmap_near = area + bitmap_at, f.bitmap_far = bitmap, f.bitmap_place = bitmap_place;                             \
    f.bitmap_shift = bitmap_shift, f.slot_shift = slot_shift;                                                           \
    f.slots = slots, f.entries = entries, f.rest = rest;                                                                \
    f.output = output, f.capacity = capacity, f.most = most;                                                            \
    f.words = area + warps_at + UNIFORM(WARP) * (warp_words);                                                           \
    f.queue = (LOCAL u16 *)(f.words + TEXT_WORDS);                                                                      \
    f.survivors = (LOCAL uint4 *)(f.words + TEXT_WORDS + QUEUE_WORDS(queue_of_lane));

#define PAIRS_HERE                                                                                                      \
    f.pairs = (LOCAL const u8 *)shared, f.singles = singles, f.threes = threes, f.threes_shift = 32 - threes_log;

#define CHUNKS (bytes / CHUNK + (bytes % CHUNK != 0))

#define FILTER(stride, with_runs, wide)                                                                                 \
    {                                                                                                                   \
        SHARED_HERE(shared)                                                                                             \
        LOCAL u32 *words = (LOCAL u32 *)shared;                                                                         \
        FILTER_HERE(words, QUEUE, WARP_WORDS)                                                                                  \
        f.records = (LOCAL uint2 *)(f.words + COUNTING_WARP_WORDS(QUEUE));                                                                        \
        scan(f, CHUNKS, stride, with_runs, wide, 0, 0);                                                                 \
    }

#define COUNT(stride, with_runs, wide)                                                                                  \
    {                                                                                                                   \
        SHARED_HERE(shared)                                                                                             \
        LOCAL u32 *words = (LOCAL u32 *)shared;                                                                         \
        FILTER_HERE(words, QUEUE, COUNTING_WARP_WORDS(QUEUE))                                                                         \
        f.run_sums = run_sums;                                                                                          \
        scan(f, CHUNKS, stride, with_runs, wide, 1, 0);                                                                 \
    }

// Windows of three bytes and the low nibbles of their neighbours, at every second position.
KERNEL_OF(1024, 64) gpu_filter_2(FILTER_ARGS SHARED(shared)) FILTER(2, 0, 0)

// As gpu_filter_2, for sets with patterns that repeat one byte: 00 00 00 00 is found by the ends
// of runs of zeros.
KERNEL_OF(1024, 64) gpu_filter_2_runs(FILTER_ARGS SHARED(shared)) FILTER(2, 1, 0)

// Windows of four bytes at every fourth position.
KERNEL_OF(1024, 64) gpu_filter_4(FILTER_ARGS SHARED(shared)) FILTER(4, 0, 0)

// Windows of eight bytes at every fourth position, for patterns of eleven bytes or more in texts
// of few byte values.
KERNEL_OF(1024, 64) gpu_filter_4_wide(FILTER_ARGS SHARED(shared)) FILTER(4, 0, 1)

// The same kernels, counting matches without writing records.
KERNEL_OF(1024, 64) gpu_filter_count_2(FILTER_ARGS, GLOBAL const u64 *RESTRICT run_sums SHARED(shared)) COUNT(2, 1, 0)
KERNEL_OF(1024, 64) gpu_filter_count_4(FILTER_ARGS, GLOBAL const u64 *RESTRICT run_sums SHARED(shared)) COUNT(4, 0, 0)
KERNEL_OF(1024, 64) gpu_filter_count_4_wide(FILTER_ARGS, GLOBAL const u64 *RESTRICT run_sums SHARED(shared)) COUNT(4, 0, 1)

// All lengths in one pass: windows at stride 2, and patterns of one to three bytes by pairs of
// bytes at every position.
KERNEL_OF(1024, 64)
gpu_filter_count_all(FILTER_ARGS, GLOBAL const u64 *RESTRICT run_sums, PAIR_ARGS SHARED(shared)) {
    SHARED_HERE(shared)
    LOCAL u32 *words = (LOCAL u32 *)shared;
    COPY_IN(words, pairs, PAIR_WORDS)
    FILTER_HERE(words + PAIR_WORDS, SHORT_QUEUE, COUNTING_WARP_WORDS(SHORT_QUEUE))
    f.run_sums = run_sums;
    PAIRS_HERE
    scan(f, CHUNKS, 2, 1, 0, 1, 1);
}

// Patterns of one to three bytes alone.
KERNEL_OF(1024, 64)
gpu_filter_count_short(GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 overlap, GLOBAL u32 *RESTRICT output,
                       PAIR_ARGS SHARED(shared)) {
    SHARED_HERE(shared)
    LOCAL u32 *words = (LOCAL u32 *)shared;
    COPY_IN(words, pairs, PAIR_WORDS)
    BARRIER();
    Filter f;
    f.text = text + at, f.bytes = bytes, f.overlap = overlap, f.output = output, f.most = NEVER, f.byte = 256;
    f.words = words + PAIR_WORDS + WARP * COUNTING_WARP_WORDS(SHORT_QUEUE);
    f.queue = (LOCAL u16 *)(f.words + TEXT_WORDS);
    PAIRS_HERE
    scan(f, CHUNKS, 0, 0, 0, 1, 1);
}

// Patterns of one to three bytes, for which windows are too long. `heads` has a bit for each pair
// of bytes that any of them may begin with; lists of patterns are keyed by one byte, by two bytes,
// and by the hash of three. An entry is {pattern, bytes}.
KERNEL(256)
gpu_filter_short(GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 overlap, GLOBAL const u32 *RESTRICT heads,
                 GLOBAL const u32 *RESTRICT ones, GLOBAL const u32 *RESTRICT twos, GLOBAL const u32 *RESTRICT threes,
                 u32 threes_log, GLOBAL const uint2 *RESTRICT entries, GLOBAL u32 *RESTRICT output, u32 capacity) {
    SHARED_ARRAY(u32, pairs, 2048);
    SHARED_ARRAY(uint2, gathered, RECORDS * 256 / LANES);
    for (u32 i = ITEM; i < 2048; i += ITEMS) pairs[i] = heads[i];
    BARRIER();
    Filter f;
    f.output = output, f.capacity = capacity, f.records = gathered + WARP * RECORDS;
    GLOBAL const u32 *words = (GLOBAL const u32 *)(text + at);
    const u32 count = bytes / 4 + (bytes % 4 != 0);
    u32 held = 0;
    // All lanes of a warp take part to the end: they exchange their records.
    for (u32 first = (GROUP * ITEMS + ITEM) / LANES * LANES; first < count; first += GROUPS * ITEMS) {
        const u32 i = first + LANE;
        u32 low = i < count ? words[i] : 0, high = i < count ? words[i + 1] : 0;
        UNROLL
        for (u32 j = 0; j < 4; j++) {
            u32 x = j ? FUNNEL(low, high, 8 * j) : low;
            u32 start = 4 * i + j;
            bool is = i < count && start < bytes && (pairs[(x & 0xffff) >> 5] >> (x & 31) & 1);
            if (!ANY(is)) continue;
            u32 three = (x & 0xffffff) * SPREAD >> (32 - threes_log);
            UNROLL
            for (u32 length = 1; length <= 3; length++) {
                GLOBAL const u32 *list = length == 1 ? ones : length == 2 ? twos : threes;
                u32 key = length == 1 ? x & 255 : length == 2 ? x & 0xffff : three;
                bool may = is && start + length <= bytes && start + length > overlap;
                u32 next = may ? list[key] : 0, end = may ? list[key + 1] : 0;
                while (ANY(next < end)) {
                    bool has = next < end;
                    uint2 entry = entries[has ? next : 0];
                    has = has && (length < 3 || entry.y == (x & 0xffffff));
                    held = emit(&f, held, has, start + length, entry.x);
                    next++;
                }
            }
        }
    }
    if (held) {
        WARP_SYNC();
        flush(&f, held);
    }
}

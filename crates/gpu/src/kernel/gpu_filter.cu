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
// Queued candidates per lane: few, because the tables need the memory more. A warp of one lane has
// eight, so that what follows is aligned to 16 bytes.
#define QUEUE 4
#define QUEUE_WORDS (LANES == 1 ? 4 : QUEUE * LANES / 2)
// Candidates that passed both tests: 16 bytes of text, then the place, then the entries of each.
// One per lane, rounded up to an even number, so that what follows is aligned to 16 bytes.
#define SURVIVORS (LANES + LANES % 2)
// Behind them the number of places that the warp reserved, in 16 bytes.
#define RESERVED_AT (TEXT_WORDS + QUEUE_WORDS + 6 * SURVIVORS)
#define WARP_WORDS (RESERVED_AT + 4)
// Words of the output before its records: {places, candidates, matches or holes, -}.
#define HEADER 4

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
    // For counting: matches of runs, see `count_of_edges`; the patterns of one byte; patterns of
    // three bytes, see `count_marked`.
    GLOBAL const u64 *run_sums;
    GLOBAL const u32 *singles;
    GLOBAL const u32 *threes;
    u32 threes_shift;
    // For each pair of bytes the matches of one and two bytes that end with it, and a mark, see
    // `look_up_pairs`. For writing: the patterns of each pair, see `write_short`.
    LOCAL const u8 *pairs;
    GLOBAL const u8 *pairs_far;
    GLOBAL const uint4 *pair_lists;
    GLOBAL const uint2 *pair_entries;
    // Shared memory of the warp.
    LOCAL u32 *words;
    LOCAL u16 *queue;
    LOCAL uint4 *survivors;
} Filter;

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

// Compares `checked` bytes of a pattern with the text from `from` on, four bytes at a time, but for
// those words that an entry with its window at k has: 16 bytes from 6 before the window on.
FUNCTION bool rest_matches(const Filter *f, u32 from, u32 k, u32 checked, u32 at) {
    GLOBAL const u32 *text = (GLOBAL const u32 *)f->text + (from >> 2);
    const u32 by = (from & 3) * 8, words = (checked + 3) / 4;
    const u32 known = k > 6 ? (k - 3) >> 2 : 0, behind = (k + 10) >> 2;
    for (u32 i = known ? 0 : behind; i < words; i = i + 1 == known ? behind : i + 1) {
        const uint2 wanted = f->rest[at + i];
        if (((FUNNEL(text[i], text[i + 1], by) ^ wanted.x) & wanted.y) != 0) return false;
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
// mask, and {pattern, length << 16 | k, offset of the rest or ~0, ids of the pattern << CHECKED_BITS
// | checked length}, which is returned.
#define CHECKED_BITS 13
FUNCTION bool is_entry(const Filter *f, u32 entry, u32 p, uint4 text, uint4 *about) {
    uint4 bytes = f->entries[3 * (u64)entry], mask = f->entries[3 * (u64)entry + 1];
    u32 wrong = ((bytes.x ^ text.x) & mask.x) | ((bytes.y ^ text.y) & mask.y) | ((bytes.z ^ text.z) & mask.z) |
                ((bytes.w ^ text.w) & mask.w);
    // Loaded in any case: about half of all entries match, and a load that waits for the result
    // would take as long as all before it.
    uint4 a = f->entries[3 * (u64)entry + 2];
    if (wrong != 0) return false;
    *about = a;
    u32 length = a.y >> 16, k = a.y & 0xffff;
    if (p < k || p - k + length > f->bytes || p - k + length <= f->overlap) return false;
    return a.z == ~0u || rest_matches(f, p - k, k, a.w & ((1u << CHECKED_BITS) - 1), a.z);
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

// The survivors that a warp holds, and where its records go.
typedef struct {
    u32 waiting;
    Places places;
} State;

// Compares survivors, at most LANES, with the entries of their slots, one entry per lane.
FUNCTION void compare(const Filter *f, State *state, u64 *sum, const int counts) {
    u32 entries = LANE < state->waiting ? entries_of_survivor(f, LANE) : 0;
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
        if (counts) *sum += is ? about.w >> CHECKED_BITS : 0;
        else append(&state->places, HEADER, is, p - (about.y & 0xffff) + (about.y >> 16), about.x);
    }
    WARP_SYNC();
    state->waiting = 0;
}

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
        const bool starts = start != ~0u, ends = end != ~0u;
        append(&state->places, HEADER, starts || ends, starts ? start : end, (starts ? RUN_START : RUN_END) | byte);
        append(&state->places, HEADER, starts && ends, end, RUN_END | byte);
    }
    const u32 who = BALLOT(entries != 0), count = POPCOUNT(who);
    if (state->waiting + count > LANES) compare(f, state, sum, counts);
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

// Flag of a pair that is the rarer one of a pattern of three bytes, or with more matches than its
// number can be; if records are written, of every pair with a match. As in the host half.
#define MARKED 0x80u

// Where the table of pairs is, as NEAR and FAR: in shared memory, or in device memory for devices
// with little of that.
FUNCTION u32 pair_at(const Filter *f, u32 place, const int pairs) {
    return pairs == NEAR ? f->pairs[place] : f->pairs_far[place];
}

// Looks up the pairs of bytes that end in a lane's row. `marks` has a bit for each marked pair:
// after two rows, bit 8 b + i is byte b of their word i. Adds to `count` the table's numbers, which
// are the patterns that are the second byte or both bytes, and MARKED, which the caller subtracts.
FUNCTION u32 look_up_pairs(const Filter *f, u32 before, uint4 row, u32 count, u32 *marks, const int counts,
                           const int pairs) {
    u32 w[5] = {before, row.x, row.y, row.z, row.w};
    UNROLL
    for (int j = 0; j < 4; j++) {
        u32 x = PLACES_OF_PAIRS(w[j + 1]), y = PLACES_OF_PAIRS(FUNNEL(w[j], w[j + 1], 24));
        u32 e = pair_at(f, HALF_OF(x, 1), pairs);
        e = e * f->byte + pair_at(f, HALF_OF(y, 1), pairs);
        e = e * f->byte + pair_at(f, HALF_OF(x, 0), pairs);
        e = e * f->byte + pair_at(f, HALF_OF(y, 0), pairs);
        if (counts) count = SUM_BYTES(e, count);
        *marks = *marks >> 1 | (e & MARKED * 0x01010101u);
    }
    return count;
}

// Moves the marks of all lanes to the queue, as many as fit: `first` has those of a lane's first two
// rows, `second` those of the others. Returns the number of queued marks. `left` is not 0 if some
// did not fit.
FUNCTION u32 queue_marks(const Filter *f, u32 *first, u32 *second, u32 *left) {
    u32 total = 0, who;
    while ((who = BALLOT((*first | *second) != 0)) != 0 && total <= (QUEUE - 1) * LANES) {
        if (*first | *second) {
            const u32 marks = *first ? *first : *second, place = FIRST_BIT(marks), rest = marks ^ 0x80000000u >> place;
            f->queue[total + POPCOUNT(who & LANES_BELOW)] = (u16)(LANE << 6 | (*first ? 0 : 32) | place);
            *second = *first ? *second : rest;
            *first = *first ? rest : 0;
        }
        total += POPCOUNT(who);
    }
    WARP_SYNC();
    *left = who;
    return total;
}

// A queued mark: where in the chunk its pair ends, and the text from the byte before the pair on.
FUNCTION u32 place_of_mark(u32 one) {
    const u32 bit = 31 - (one & 31), row = (one >> 4 & 2) + (bit >> 2 & 1);
    return (row * LANES + (one >> 6)) * 16 + (bit & 3) * 4 + (bit >> 3);
}
FUNCTION u32 text_of_mark(const Filter *f, u32 place) {
    // The copy in shared memory begins 16 bytes before the chunk.
    LOCAL const u32 *words = f->words + ((place + 14) >> 2);
    return FUNNEL(words[0], words[1], 8 * ((place + 14) & 3));
}

// What a pattern of three bytes at a marked pair is compared with: the byte before it and the pair,
// or with BEHIND_PAIR the pair and the byte behind it; NO_THREE is neither.
#define BEHIND_PAIR (1u << 24)
#define NO_THREE (~0u)

// Counts the patterns at a marked pair; those of the pair itself only if `owns`. A word of the
// table is {ids, THREE_MORE if the next place may have another one of this pair, BEHIND_PAIR if
// the pair is the pattern's first two bytes, bytes}. If it has 0 ids their number is behind the
// table, with ALL_OF_PAIR if it is that of the pair, whose bytes are in the low bits of the word.
#define THREE_MORE (1u << 25)
#define THREE_IDS 26
#define ALL_OF_PAIR (1u << 31)
FUNCTION u32 count_marked(const Filter *f, u32 pair, u32 before, u32 behind, bool owns) {
    const u32 first = (pair << 8) * SPREAD >> f->threes_shift, last = ~0u >> f->threes_shift;
    u32 count = 0, at = first, least = ~0u, word;
    for (;; at = (at + 1) & last) {
        word = f->threes[at];
        const u32 key = word & (THREE_MORE - 1);
        if (key == before || key == behind) count += word >> THREE_IDS;
        least = word < least ? word : least;
        if (!(word & THREE_MORE)) break;
    }
    if (least >> THREE_IDS != 0) return count;
    // Rare, so it is another loop.
    ROLLED
    for (at = first;; at = (at + 1) & last) {
        word = f->threes[at];
        const u32 key = word & (THREE_MORE - 1), ids = f->threes[last + 1 + at];
        const bool is = ids & ALL_OF_PAIR ? owns && key == pair : key == before || key == behind;
        if (is && word >> THREE_IDS == 0) count += ids & ~ALL_OF_PAIR;
        if (!(word & THREE_MORE)) return count;
    }
}

// Counts the patterns at the marks of a chunk.
FUNCTION u32 count_marks(const Filter *f, u32 first, u32 second) {
    u32 count = 0, left;
    do {
        const u32 total = queue_marks(f, &first, &second, &left);
        for (u32 i = LANE; i < total; i += LANES) {
            const u32 text = text_of_mark(f, place_of_mark(f->queue[i]));
            count += count_marked(f, text >> 8 & 0xffff, text & 0xffffff, BEHIND_PAIR | text >> 8, true);
        }
        WARP_SYNC();
    } while (left != 0);
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
        count += count_marked(f, pair, before, behind, at >= f->overlap);
    }
    return count;
}

// Writes the patterns of one to three bytes at the marks of a chunk, one mark per lane. A pair's
// list is {two patterns that end with it, or HOLE; the first further entry, their number}; a byte
// has one, too, for the beginning of the text. A further entry is {pattern, what it is compared
// with, or OF_PAIR}.
#define OF_PAIR (1u << 25)
#define LISTS_OF_BYTES 65536u
FUNCTION void write_short(const Filter *f, u32 chunk, u32 first, u32 second, State *state) {
    u32 left;
    // The first byte of the text ends no pair.
    if (chunk == 0 && LANE == 0) first |= 1;
    do {
        const u32 total = queue_marks(f, &first, &second, &left);
        ROLLED
        for (u32 i = 0; i < total; i += LANES) {
            const bool is = i + LANE < total;
            const u32 place = is ? place_of_mark(f->queue[i + LANE]) : 0, at = chunk + place;
            const u32 text = text_of_mark(f, place), pair = text >> 8 & 0xffff;
            const bool is_mark = is && at < f->bytes, owns = at >= f->overlap;
            uint4 list = UINT4(HOLE, HOLE, 0, 0);
            if (is_mark) list = f->pair_lists[at == 0 ? LISTS_OF_BYTES + (pair >> 8) : pair];
            append(&state->places, HEADER, owns && list.x != HOLE, at + 1, list.x);
            append(&state->places, HEADER, owns && list.y != HOLE, at + 1, list.y);
            const u32 before = at >= 2 && owns ? text & 0xffffff : NO_THREE;
            const u32 behind = at + 1 >= f->overlap && at + 1 < f->bytes ? BEHIND_PAIR | text >> 8 : NO_THREE;
            ROLLED
            for (u32 n = 0; ANY(n < list.w); n++) {
                const uint2 entry = n < list.w ? f->pair_entries[list.z + n] : UINT2(0, ~BEHIND_PAIR);
                const bool matches = entry.y == before || entry.y == behind || (owns && entry.y == OF_PAIR);
                append(&state->places, HEADER, n < list.w && matches, at + 1 + (entry.y >> 24 & 1), entry.x);
            }
        }
        WARP_SYNC();
    } while (left != 0);
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
// are those of `look_up_pairs`.
FUNCTION u32 look_up(const Filter *f, const uint4 *row, const uint4 *side, bool inner, u32 *few, u32 *marks, const int stride,
                     const int runs, const int wide, const int counts, const int pairs) {
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
        if (pairs) *few = look_up_pairs(f, before, row[k], *few, &marks[k / 2], counts, pairs);
        if (stride == 2) hits = hits << 8 | look_up_2(f, before, row[k], after, runs, inner);
    }
    return stride == 4 ? hits << 16 : hits;
}

// Moves the candidates of all lanes from `hits` to the queue, or the first ones of each lane if
// not all fit. Returns the number of queued candidates.
FUNCTION u32 line_up(const Filter *f, u32 *hits) {
    u32 here = *hits, count = POPCOUNT(here), below = SUM_BELOW(count), total = SHUFFLE(below + count, LANES - 1);
    if (total > QUEUE * LANES) {
        ROLLED
        for (u32 k = 0; k < QUEUE && *hits != 0; k++) *hits ^= 0x80000000u >> FIRST_BIT(*hits);
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

FUNCTION void scan(Filter f, u32 chunks, const int stride, const int runs, const int wide, const int counts,
                   const int pairs) {
    const u32 warps = GROUPS * (ITEMS / LANES);
    u32 chunk = GROUP * (ITEMS / LANES) + UNIFORM(WARP);
    if (chunk >= chunks) return;
    GLOBAL const uint4 *input = (GLOBAL const uint4 *)f.text + ((u64)chunk * (ROWS * LANES) + LANE);
    State state;
    state.waiting = 0;
    state.places.list = f.output, state.places.capacity = f.capacity;
    state.places.reserved = f.words + RESERVED_AT, state.places.next = state.places.left = 0;
    if (LANE == 0) *state.places.reserved = 0;
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
        u32 hits = look_up(&f, row, side, chunk + 2 < chunks, &few, marks, stride, runs, wide, counts, pairs);
        const u32 base = chunk * CHUNK;
        chunk += warps;
        bool more = chunk < chunks;
        if (more) {
            input += (u64)warps * (ROWS * LANES);
            load(input, row, side);
        }
        if (pairs) {
            WARP_SYNC();
            if (!counts) {
                write_short(&f, base, marks[0], marks[1], &state);
            } else if (base == 0 || base < f.overlap || base + CHUNK >= f.bytes) {
                sum += count_short_at_edge(&f, base);
            } else {
                sum += few - MARKED * (POPCOUNT(marks[0]) + POPCOUNT(marks[1])) + count_marks(&f, marks[0], marks[1]);
            }
        }
        const u32 row_log = stride == 2 ? 3 : 2, low = (1u << row_log) - 1;
        while (stride && ANY(hits != 0)) {
            const u32 total = line_up(&f, &hits);
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
    if (state.waiting) compare(&f, &state, &sum, counts);
    if (!counts) leave(&state.places, HEADER, f.output + 2);
    tell(&f, seen, sum);
}

#define FILTER_ARGS                                                                                                     \
    GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 overlap, GLOBAL const u32 *RESTRICT table, u32 table_shift,     \
        GLOBAL const u32 *RESTRICT bitmap, u32 bitmap_shift, u32 bitmap_place, GLOBAL const uint4 *RESTRICT slots,        \
        u32 slot_shift, u32 bitmap_at, u32 warps_at, GLOBAL const uint4 *RESTRICT entries, GLOBAL const uint2 *RESTRICT rest,                             \
        GLOBAL const u32 *RESTRICT run_kinds, GLOBAL u32 *RESTRICT output, u32 capacity, u32 most

#define PAIR_ARGS                                                                                                       \
    GLOBAL const u32 *RESTRICT pairs, GLOBAL const uint4 *RESTRICT pair_lists, GLOBAL const uint2 *RESTRICT pair_entries

#define COUNT_PAIR_ARGS                                                                                                 \
    GLOBAL const u32 *RESTRICT pairs, GLOBAL const u32 *RESTRICT singles, GLOBAL const u32 *RESTRICT threes, u32 threes_log

#define PAIR_WORDS (65536 / 4)

#define COPY_IN(to, from, count)                                                                                        \
    for (u32 i = ITEM; i < (count); i += ITEMS) (to)[i] = (from)[i];

// Declares the filter f with the fields that all kernels use. `area` is shared memory: kinds of
// bytes, the table, the bitmap, and the memory of the warps.
#define FILTER_HERE(area)                                                                                               \
    COPY_IN(area, run_kinds, KIND_WORDS)                                                                                \
    COPY_IN(area + KIND_WORDS, table, bitmap_at - KIND_WORDS)                                                           \
    COPY_IN((area) + bitmap_at, bitmap, warps_at - bitmap_at)                                                           \
    BARRIER();                                                                                                          \
    Filter f;                                                                                                           \
    f.text = text + at, f.bytes = bytes, f.overlap = overlap;                                                           \
    f.kinds = (LOCAL const u8 *)(area);                                                                                 \
    f.table = area + KIND_WORDS, f.table_shift = table_shift, f.four = 4 + SHUFFLE(bitmap_at >> 31, LANE), f.byte = 64 * f.four; \
    f.bitmap_near = area + bitmap_at, f.bitmap_far = bitmap, f.bitmap_place = bitmap_place;                             \
    f.bitmap_shift = bitmap_shift, f.slot_shift = slot_shift;                                                           \
    f.slots = slots, f.entries = entries, f.rest = rest;                                                                \
    f.output = output, f.capacity = capacity, f.most = most;                                                            \
    f.words = area + warps_at + UNIFORM(WARP) * WARP_WORDS;                                                             \
    f.queue = (LOCAL u16 *)(f.words + TEXT_WORDS);                                                                      \
    f.survivors = (LOCAL uint4 *)(f.words + TEXT_WORDS + QUEUE_WORDS);

// The same for kernels without windows.
#define SHORT_HERE(pair_words)                                                                                          \
    SHARED_HERE(shared)                                                                                                 \
    LOCAL u32 *words = (LOCAL u32 *)shared;                                                                             \
    COPY_IN(words, pairs, pair_words)                                                                                   \
    BARRIER();                                                                                                          \
    Filter f;                                                                                                           \
    f.text = text + at, f.bytes = bytes, f.overlap = overlap, f.output = output, f.most = NEVER, f.byte = 256;          \
    f.words = words + (pair_words) + WARP * WARP_WORDS;                                                                 \
    f.queue = (LOCAL u16 *)(f.words + TEXT_WORDS);                                                                      \
    f.pairs = (LOCAL const u8 *)shared, f.pairs_far = (GLOBAL const u8 *)pairs;

#define CHUNKS (bytes / CHUNK + (bytes % CHUNK != 0))

#define FILTER(stride, with_runs, wide)                                                                                 \
    {                                                                                                                   \
        SHARED_HERE(shared)                                                                                             \
        LOCAL u32 *words = (LOCAL u32 *)shared;                                                                         \
        FILTER_HERE(words)                                                                                              \
        scan(f, CHUNKS, stride, with_runs, wide, 0, 0);                                                                 \
    }

#define COUNT(stride, with_runs, wide)                                                                                  \
    {                                                                                                                   \
        SHARED_HERE(shared)                                                                                             \
        LOCAL u32 *words = (LOCAL u32 *)shared;                                                                         \
        FILTER_HERE(words)                                                                                              \
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

// All lengths in one pass: windows at stride 2, and patterns of one to three bytes by pairs of
// bytes at every position.
KERNEL_OF(1024, 64) gpu_filter_all(FILTER_ARGS, PAIR_ARGS SHARED(shared)) {
    SHARED_HERE(shared)
    LOCAL u32 *words = (LOCAL u32 *)shared;
    COPY_IN(words, pairs, PAIR_WORDS)
    FILTER_HERE(words + PAIR_WORDS)
    f.pairs = (LOCAL const u8 *)shared, f.pair_lists = pair_lists, f.pair_entries = pair_entries;
    scan(f, CHUNKS, 2, 1, 0, 0, NEAR);
}

#define SHORT(pair_words, place)                                                                                        \
    {                                                                                                                   \
        SHORT_HERE(pair_words)                                                                                          \
        f.capacity = capacity, f.pair_lists = pair_lists, f.pair_entries = pair_entries;                                \
        scan(f, CHUNKS, 0, 0, 0, 0, place);                                                                             \
    }

#define SHORT_ARGS                                                                                                      \
    GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 overlap, GLOBAL u32 *RESTRICT output, u32 capacity, PAIR_ARGS

// Patterns of one to three bytes alone, with the table of pairs in shared memory or in device
// memory.
KERNEL_OF(1024, 64) gpu_filter_short(SHORT_ARGS SHARED(shared)) SHORT(PAIR_WORDS, NEAR)
KERNEL_OF(1024, 64) gpu_filter_short_far(SHORT_ARGS SHARED(shared)) SHORT(0, FAR)

// The same kernels, counting matches without writing records.
KERNEL_OF(1024, 64) gpu_filter_count_2(FILTER_ARGS, GLOBAL const u64 *RESTRICT run_sums SHARED(shared)) COUNT(2, 1, 0)
KERNEL_OF(1024, 64) gpu_filter_count_4(FILTER_ARGS, GLOBAL const u64 *RESTRICT run_sums SHARED(shared)) COUNT(4, 0, 0)
KERNEL_OF(1024, 64) gpu_filter_count_4_wide(FILTER_ARGS, GLOBAL const u64 *RESTRICT run_sums SHARED(shared)) COUNT(4, 0, 1)

KERNEL_OF(1024, 64)
gpu_filter_count_all(FILTER_ARGS, GLOBAL const u64 *RESTRICT run_sums, COUNT_PAIR_ARGS SHARED(shared)) {
    SHARED_HERE(shared)
    LOCAL u32 *words = (LOCAL u32 *)shared;
    COPY_IN(words, pairs, PAIR_WORDS)
    FILTER_HERE(words + PAIR_WORDS)
    f.run_sums = run_sums;
    f.pairs = (LOCAL const u8 *)shared, f.singles = singles, f.threes = threes, f.threes_shift = 32 - threes_log;
    scan(f, CHUNKS, 2, 1, 0, 1, NEAR);
}

KERNEL_OF(1024, 64)
gpu_filter_count_short(GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 overlap, GLOBAL u32 *RESTRICT output,
                       COUNT_PAIR_ARGS SHARED(shared)) {
    SHORT_HERE(PAIR_WORDS)
    f.singles = singles, f.threes = threes, f.threes_shift = 32 - threes_log;
    scan(f, CHUNKS, 0, 0, 0, 1, NEAR);
}

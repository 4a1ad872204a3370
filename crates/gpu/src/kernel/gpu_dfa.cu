// The compact automaton: a lane walks a segment of the text, one step per byte, and past its end
// for matches that began in it.
//
// A state is a word: the base of its stored transitions, how many matches end in it (3: three or
// more), and the label of the transition to it. Transition c of base b is at b ^ c. If no label
// fits, the context, which is the last bytes of the text, gives the state. The host half,
// engine/gpu_dfa/tables.rs, builds this layout.
//
// Slots are stored twice: with one word each, and then with two. There the second word has up to
// three labels of the path that most patterns take from the slot, and the base in the first word
// is that of the path's end: a lane on a path loads nothing until it reaches the end or leaves it.
// `rest` is what is left of a path: labels, the next one lowest, and above them a byte of flags,
// so that it is above 255 as long as there is a label.

#define BASE 10
#define COUNT 0x300u
#define LABEL 0xffu
// Flag in the linked form: the state leaves transitions to its failure states.
#define PARTIAL 0x400u
#define BASE_LINKED 11
// Flag of a record that a lane wrote past its segment: the next record has the number of bytes
// past it.
#define TAIL 0x80000000u
// Words of a list before its records: {places, holes}.
#define HEADER 2

typedef struct {
    GLOBAL const u8 *text;
    u32 bytes, overlap;
    // Contexts in shared memory, or in device memory in the linked form.
    LOCAL const u16 *contexts;
    GLOBAL const u32 *contexts_far;
    u32 start, bits, mask, letters;
    LOCAL const u8 *classes;
    // Stored transitions: the first ones in shared memory, all of them in device memory.
    LOCAL const u32 *near;
    u32 near_slots;
    GLOBAL const u32 *slots;
    u32 slot_count;
    // Stored transitions with paths; a warp with no more than `few_deep` lanes deep in the
    // patterns ignores paths.
    GLOBAL const uint2 *far_slots;
    u32 few_deep;
    // By place: the slots, and behind them the contexts.
    GLOBAL const u16 *depths;
    GLOBAL const u32 *counts;
    GLOBAL const u32 *fails;
#ifdef STAGED
    const RowMap *rows;
    // Shared memory of the warp.
    LOCAL uint4 *block;
    LOCAL u64 *barrier;
#endif
} Dfa;

// Folds four bytes to lower case, for sets in which some pattern ignores case.
FUNCTION u32 lower_4(u32 x) {
    u32 low = x & 0x7f7f7f7fu;
    u32 upper = (low + 0x3f3f3f3fu) & ~(low + 0x25252525u) & ~x & 0x80808080u;
    return x | upper >> 2;
}

// The number of labels left of a path.
FUNCTION u32 labels_of(u32 rest) {
    return (31 - LEADING_ZEROS(rest)) / 8;
}

// The word of the state of a lane on a path.
FUNCTION u32 on_path(const Dfa *d, u32 state, u32 rest) {
    return d->fails[3 * (state >> BASE) + labels_of(rest) - 1] | (state & COUNT);
}

// Whether that state stores nothing but the path.
FUNCTION bool is_alone(u32 rest) {
    return rest >> (9 * labels_of(rest) - 1) & 1;
}

// The state after a byte of class c. Predicates skip loads, so that there is no branch except for
// lanes that leave a path.
FUNCTION u32 step(const Dfa *d, u32 state, u32 c, u32 context, u32 *rest, u32 *place, const int paths) {
    u32 told = (u32)d->contexts[context] << 8;
    bool is_on_path = paths && *rest > 255, goes_on = is_on_path && ((*rest ^ c) & LABEL) == 0;
    // States on a path report nothing.
    u32 stored = state & ~COUNT, next = *rest >> 8;
    if (is_on_path && !goes_on) state = is_alone(*rest) ? 0 : on_path(d, state, *rest);
    u32 slot = state >> BASE ^ c;
    bool stores = !goes_on && state >= 1u << BASE, is_near = slot < d->near_slots;
    if (stores && is_near) stored = d->near[slot], next = 0;
    if (stores && !is_near && paths) {
        uint2 two = d->far_slots[slot];
        stored = two.x, next = two.y;
    }
    if (stores && !is_near && !paths) stored = d->slots[slot];
    bool fits = goes_on || (stores && ((stored ^ c) & LABEL) == 0);
    if (paths) *rest = fits ? next : 0;
    *place = fits ? slot : d->slot_count + context;
    return fits ? stored : told;
}

// As `step`, for a byte. `past` is the context's part from the bytes before it.
FUNCTION u32 walk(const Dfa *d, u32 state, u32 byte, u32 *past, u32 *place, const int raw) {
    u32 c = raw ? folded(byte, d->letters) : d->classes[byte], rest = 0, context;
    if (raw) {
        context = *past > 255 ? 65536 + c : c << 8 | *past;
        *past = c;
    } else {
        context = *past | c;
        *past = context << d->bits & d->mask;
    }
    return step(d, state, c, context, &rest, place, 0);
}

// The matches of a state beyond the 3 that its word can count.
FUNCTION u32 more(const Dfa *d, u32 state, u32 place) {
    return (state & COUNT) == COUNT ? d->counts[place] - 3 : 0;
}

// The number of matches of a state.
FUNCTION u32 matches(const Dfa *d, u32 state, u32 place) { return ((state & COUNT) >> 8) + more(d, state, place); }

// Four bytes of every lane, with all matches reported. The context of the first is c * scale +
// past.
FUNCTION u32 four(const Dfa *d, u32 state, u32 *rest, u32 x, u32 end, u32 *past, u32 *scale, Places *g, u32 *counted,
                  const int raw, const int counts, const int paths) {
    if (raw && d->letters) x = lower_4(x);
    UNROLL
    for (int j = 0; j < 4; j++) {
        u32 c = x >> 8 * j & 255, context, place;
        if (raw) {
            context = j ? x >> (8 * j - 8 * (j > 0)) & 0xffff : c * *scale + *past;
        } else {
            c = d->classes[c];
            context = *past | c;
            *past = context << d->bits & d->mask;
        }
        state = step(d, state, c, context, rest, &place, paths);
        if (counts) *counted += matches(d, state, place);
        else append(g, HEADER, (state & COUNT) != 0, end + j + 1, place);
    }
    if (raw) *past = x >> 24, *scale = 256;
    return state;
}

// As `append`, for pairs of records that must stay adjacent: places for all of them are reserved at
// once, behind holes.
FUNCTION void append_pair(Places *g, bool has, u32 place, u32 what, u32 more) {
    const u32 who = BALLOT(has), count = 2 * POPCOUNT(who);
    if (who == 0) return;
    if (count > g->left) {
        leave(g, HEADER, g->list + 1);
        g->next += reserve_more(g, count);
    }
    const u32 at = g->next + 2 * POPCOUNT(who & LANES_BELOW);
    if (has && at + 1 < g->capacity) {
        ((GLOBAL uint2 *)(g->list + HEADER))[at] = UINT2(place, what);
        ((GLOBAL uint2 *)(g->list + HEADER))[at + 1] = UINT2(more, 0);
    }
    g->next += count;
    g->left -= count;
}

// Past the segment: while the state is longer than the bytes read there, a match that began in the
// segment is possible; shorter ones belong to the next lane. If matches are only counted, returns
// their number: all that end there, less those of a second state, which walks as the next lane
// does.
FUNCTION u32 tail(const Dfa *d, u32 state, u32 past, u32 to, bool alive, Places *g, const int raw, const int counts) {
    u32 i = to, theirs = 0, their_past = raw ? 256 : d->start, sum = 0;
    while (ANY(alive)) {
        u32 place = 0, their_place = 0;
        bool has = false;
        if (alive) {
            const u32 byte = d->text[i];
            state = walk(d, state, byte, &past, &place, raw);
            if (counts) theirs = walk(d, theirs, byte, &their_past, &their_place, raw);
            i++;
            alive = d->depths[place] > i - to;
            has = alive && (state & COUNT) != 0 && i > d->overlap;
            alive = alive && i < d->bytes;
        }
        if (!counts) append_pair(g, has, i, TAIL | place, i - to);
        else if (has) sum += matches(d, state, place) - matches(d, theirs, their_place);
    }
    return sum;
}

// The next 32 bytes of each lane's segment. They arrive while the lanes walk those before. A load
// takes longer for each cache line that its lanes touch, and segments are far apart; a copy of a
// block takes no time of the lanes.
#ifdef STAGED

typedef struct {
    LOCAL const uint4 *here;
    u32 row, phase;
} Feed;

// `first` is where the warp's first segment begins.
FUNCTION void start_feed(const Dfa *d, Feed *feed, u64 first, u32 positions, u32 from, u32 to) {
    feed->here = d->block + place_in_block(LANE);
    feed->row = (u32)(first / positions);
    if (LANE == 0) copy_block(d->block, d->rows, 0, feed->row, d->barrier);
}

FUNCTION void take(const Dfa *d, Feed *feed, uint4 *a, uint4 *b, u32 i, u32 from, u32 to) {
    wait_for_block(d->barrier, feed->phase);
    feed->phase ^= 1;
    *a = feed->here[0];
    *b = d->block[place_in_block(LANE) ^ 1];
    const u32 column = after_loads(i + 32 - from, a->w | b->w);
    // The first lane's segment is the longest.
    if (LANE == 0 && i + 32 < to) copy_block(d->block, d->rows, column, feed->row, d->barrier);
}

#else

typedef struct {
    uint4 a, b;
    // Of staged text only.
    u32 phase;
} Feed;

FUNCTION void start_feed(const Dfa *d, Feed *feed, u64 first, u32 positions, u32 from, u32 to) {
    GLOBAL const uint4 *input = (GLOBAL const uint4 *)d->text;
    feed->a = feed->b = UINT4(0, 0, 0, 0);
    if (from < to) feed->a = input[from / 16], feed->b = input[from / 16 + 1];
}

FUNCTION void take(const Dfa *d, Feed *feed, uint4 *a, uint4 *b, u32 i, u32 from, u32 to) {
    GLOBAL const uint4 *input = (GLOBAL const uint4 *)d->text;
    *a = feed->a, *b = feed->b;
    if (i < to) feed->a = input[i / 16 + 2], feed->b = input[i / 16 + 3];
}

#endif

FUNCTION u64 scan(Dfa d, u32 positions, Places *g, const int raw, const int counts, const int paths) {
    const u64 share = (u64)LANES * positions, stride = (u64)GROUPS * (ITEMS / LANES) * share;
    u64 sum = 0;
    Feed feed;
    feed.phase = 0;
    // All lanes of a warp take part to the end: they exchange their records.
    for (u64 first = ((u64)GROUP * (ITEMS / LANES) + WARP) * share; first < d.bytes; first += stride) {
        u64 begin = first + (u64)LANE * positions;
        bool is = begin < d.bytes;
        u32 from = is ? (u32)begin : 0, to = !is ? 0 : d.bytes - from < positions ? d.bytes : from + positions;
        u32 state = 0, rest = 0, past = raw ? 256 : d.start;
        start_feed(&d, &feed, first, positions, from, to);
        for (u32 i = from; ANY(i < to); i += 32) {
            uint4 a, b;
            take(&d, &feed, &a, &b, i, from, to);
            if (!ANY(i < d.overlap || i + 32 > to)) {
                u32 scale = past > 255 ? 1 : 256, counted = 0;
                if (raw && past > 255) past = 65536;
                // Paths save loads and cost instructions: they pay if many lanes are deep in the
                // patterns.
                bool is_deep = rest > 255 || state >> BASE >= d.near_slots;
                if (paths && POPCOUNT(BALLOT(is_deep)) > d.few_deep) {
                    ROLLED
                    for (u32 j = i; j < i + 32; j += 8) {
                        state = four(&d, state, &rest, a.x, j, &past, &scale, g, &counted, raw, counts, 1);
                        state = four(&d, state, &rest, a.y, j + 4, &past, &scale, g, &counted, raw, counts, 1);
                        a.x = a.z, a.y = a.w, a.z = b.x, a.w = b.y, b.x = b.z, b.y = b.w;
                    }
                } else {
                    if (paths && rest > 255) state = on_path(&d, state, rest), rest = 0;
                    ROLLED
                    for (u32 j = i; j < i + 32; j += 8) {
                        state = four(&d, state, &rest, a.x, j, &past, &scale, g, &counted, raw, counts, 0);
                        state = four(&d, state, &rest, a.y, j + 4, &past, &scale, g, &counted, raw, counts, 0);
                        a.x = a.z, a.y = a.w, a.z = b.x, a.w = b.y, b.x = b.z, b.y = b.w;
                    }
                }
                sum += counted;
            } else {
                if (paths && rest > 255) state = on_path(&d, state, rest), rest = 0;
                ROLLED
                for (u32 j = i; j < i + 32; j++) {
                    u32 place = 0;
                    bool has = false;
                    if (j < to) {
                        state = walk(&d, state, d.text[j], &past, &place, raw);
                        has = (state & COUNT) != 0 && j >= d.overlap;
                    }
                    if (!counts) {
                        append(g, HEADER, has, j + 1, place);
                    } else if (has) {
                        sum += matches(&d, state, place);
                    }
                }
            }
        }
        if (paths && rest > 255) state = on_path(&d, state, rest);
        sum += tail(&d, state, past, to, is && to < d.bytes, g, raw, counts);
    }
    return sum;
}

// The linked form: a state may leave transitions to its failure states, so a byte may take many
// steps. Lanes do not wait for each other's bytes: each takes one step forward per byte, and at
// most one back.
FUNCTION u64 scan_linked(Dfa d, u32 positions, Places *g, const int counts) {
    const u64 share = (u64)LANES * positions, stride = (u64)GROUPS * (ITEMS / LANES) * share;
    u64 sum = 0;
    for (u64 first = ((u64)GROUP * (ITEMS / LANES) + WARP) * share; first < d.bytes; first += stride) {
        u64 begin = first + (u64)LANE * positions;
        bool alive = begin < d.bytes;
        u32 i = alive ? (u32)begin : 0, to = d.bytes - i < positions ? d.bytes : i + positions;
        // Where the byte's transition is looked up: the state's place and word, then those of its
        // failure states.
        u32 past = d.start, link = 0, word = 0;
        while (ANY(alive)) {
            u32 place = 0;
            bool has = false, is_behind = false;
            if (alive) {
                u32 c = d.classes[d.text[i]], context = past | c, slot = word >> BASE_LINKED ^ c;
                u32 stored = d.slots[slot];
                bool fits = ((stored ^ c) & LABEL) == 0;
                if (!fits && (word & PARTIAL)) {
                    link = d.fails[link];
                    word = link < d.slot_count ? d.slots[link] : d.contexts_far[link - d.slot_count];
                } else {
                    word = fits ? stored : d.contexts_far[context];
                    place = link = fits ? slot : d.slot_count + context;
                    past = context << d.bits & d.mask;
                    i++;
                    is_behind = i > to;
                    if (is_behind) alive = d.depths[place] > i - to;
                    has = alive && (word & COUNT) != 0 && i > d.overlap;
                    alive = alive && i < d.bytes;
                }
            }
            append_pair(g, has && is_behind, i, TAIL | place, i - to);
            if (!counts) {
                append(g, HEADER, has && !is_behind, i, place);
            } else if (has && !is_behind) {
                sum += ((word & COUNT) >> 8) + more(&d, word, place);
            }
        }
    }
    return sum;
}

#define DFA_ARGS                                                                                                        \
    GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 overlap, u32 positions, GLOBAL const uint4 *RESTRICT contexts,  \
        u32 context_words, u32 start, u32 bits, u32 mask, u32 letters, GLOBAL const uint4 *RESTRICT classes,            \
        GLOBAL const u32 *RESTRICT slots, u32 slot_count, u32 near_slots, u32 few_deep,                                 \
        GLOBAL const u16 *RESTRICT depths,                                                                              \
        GLOBAL const u32 *RESTRICT counts, GLOBAL const u32 *RESTRICT fails, GLOBAL u64 *RESTRICT sums,                 \
        GLOBAL u32 *RESTRICT found, u32 room ROW_MAP(rows) SHARED(shared)

#ifdef STAGED
#define NAMED(name) name##_staged
#define BLOCK_WORDS (BLOCK_BYTES / 16)
#define BLOCKS_HERE (ITEMS / LANES * BLOCK_WORDS)
#define BARRIERS_HERE (ITEMS / LANES / 2)
#define STAGE(area, barriers)                                                                                           \
    d.rows = &rows, d.block = (area) + WARP * BLOCK_WORDS, d.barrier = (LOCAL u64 *)(barriers) + WARP;                  \
    if (LANE == 0) init_barrier(d.barrier);
#else
#define NAMED(name) name
#define BLOCKS_HERE 0
#define BARRIERS_HERE 0
#define STAGE(area, barriers)
#endif

// Shared memory: with STAGED a block for each warp, contexts, the first slots, classes, with STAGED
// a barrier for each warp, and how many places each warp reserved; at the end the items' sums.
#define DFA(scanned, counting)                                                                                          \
    {                                                                                                                   \
        SHARED_HERE(shared)                                                                                             \
        LOCAL uint4 *context_copy = shared + BLOCKS_HERE;                                                               \
        LOCAL uint4 *near_words = context_copy + context_words, *class_words = near_words + near_slots / 4;             \
        LOCAL uint4 *barriers = class_words + 16;                                                                       \
        for (u32 i = ITEM; i < context_words; i += ITEMS) context_copy[i] = contexts[i];                                \
        for (u32 i = ITEM; i < near_slots / 4; i += ITEMS) {                                                            \
            near_words[i] = ((GLOBAL const uint4 *)slots)[i];                                                           \
        }                                                                                                               \
        for (u32 i = ITEM; i < 16; i += ITEMS) class_words[i] = classes[i];                                             \
        Dfa d;                                                                                                          \
        STAGE(shared, barriers)                                                                                         \
        BARRIER();                                                                                                      \
        d.text = text + at, d.bytes = bytes, d.overlap = overlap;                                                       \
        d.contexts = (LOCAL const u16 *)context_copy, d.contexts_far = (GLOBAL const u32 *)contexts;                    \
        d.start = start, d.bits = bits, d.mask = mask, d.letters = letters;                                             \
        d.classes = (LOCAL const u8 *)class_words;                                                                      \
        d.near = (LOCAL const u32 *)near_words, d.near_slots = near_slots, d.slots = slots, d.slot_count = slot_count;  \
        d.far_slots = (GLOBAL const uint2 *)(slots + slot_count), d.few_deep = few_deep;                                \
        d.depths = depths, d.counts = counts, d.fails = fails;                                                          \
        Places g;                                                                                                       \
        g.list = found, g.capacity = room, g.next = g.left = 0;                                                         \
        g.reserved = (LOCAL u32 *)(barriers + BARRIERS_HERE) + WARP;                                                    \
        if (LANE == 0) *g.reserved = 0;                                                                                 \
        u64 sum = scanned;                                                                                              \
        leave(&g, HEADER, found + 1);                                                                                   \
        if (counting) add_up((LOCAL u64 *)shared, sum, sums);                                                           \
    }

// Adds up the sums of a group's work items.
FUNCTION void add_up(LOCAL u64 *of_items, u64 sum, GLOBAL u64 *sums) {
    BARRIER();
    of_items[ITEM] = sum;
    BARRIER();
    for (u32 rest = ITEMS / 2; rest; rest /= 2) {
        if (ITEM < rest) of_items[ITEM] += of_items[ITEM + rest];
        BARRIER();
    }
    if (ITEM == 0) sums[GROUP] = of_items[0];
}

// Classes are bytes.
#ifndef STAGED
KERNEL_OF(1024, 64) gpu_dfa_bytes(DFA_ARGS) DFA(scan(d, positions, &g, 1, 0, 0), 0)
KERNEL_OF(1024, 64) gpu_dfa_bytes_paths(DFA_ARGS) DFA(scan(d, positions, &g, 1, 0, 1), 0)
#endif
KERNEL_OF(1024, 64) NAMED(gpu_dfa_bytes_count)(DFA_ARGS) DFA(scan(d, positions, &g, 1, 1, 0), 1)
KERNEL_OF(1024, 64) NAMED(gpu_dfa_bytes_paths_count)(DFA_ARGS) DFA(scan(d, positions, &g, 1, 1, 1), 1)

// Few classes, and perhaps longer contexts.
#ifndef STAGED
KERNEL_OF(1024, 64) gpu_dfa_classes(DFA_ARGS) DFA(scan(d, positions, &g, 0, 0, 0), 0)
KERNEL_OF(1024, 64) gpu_dfa_classes_paths(DFA_ARGS) DFA(scan(d, positions, &g, 0, 0, 1), 0)
#endif
KERNEL_OF(1024, 64) NAMED(gpu_dfa_classes_count)(DFA_ARGS) DFA(scan(d, positions, &g, 0, 1, 0), 1)
KERNEL_OF(1024, 64) NAMED(gpu_dfa_classes_paths_count)(DFA_ARGS) DFA(scan(d, positions, &g, 0, 1, 1), 1)

#ifndef STAGED
// Hostile sets, and devices with little shared memory.
KERNEL_OF_TWO(1024, 64) gpu_dfa_linked(DFA_ARGS) DFA(scan_linked(d, positions, &g, 0), 0)
KERNEL_OF_TWO(1024, 64) gpu_dfa_linked_count(DFA_ARGS) DFA(scan_linked(d, positions, &g, 1), 1)
#endif

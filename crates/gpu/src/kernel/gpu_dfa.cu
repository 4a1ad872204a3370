// The compact automaton: a lane walks a segment of the text, one step a byte, and on past its end for what began in it.
//
// A state is a word: where its stored transitions begin, how many patterns end in it (3: as many or more), and the label
// of the transition that led there. Transition c of base b stands at b ^ c. What fits no label is told by the context:
// the last bytes of the text. The layout is that of the host half, engine/gpu_dfa/tables.rs.
//
// Slots are listed twice: with one word each, and then with two. There the second has up to three labels of the path that
// most of the patterns take from there, and the base in the first is that of the path's end: a lane on a path loads nothing
// until it has come to the end or left it. `rest` is what is left: labels, the next one lowest, and above them a byte with flags, so that it is more than
// 255 as long as there is a label.

#define BASE 10
#define COUNT 0x300u
#define LABEL 0xffu
// In the linked form, of a state that leaves transitions to its failure states.
#define PARTIAL 0x400u
#define BASE_LINKED 11
// The place of a record that a lane wrote behind its segment: one more word says how many bytes behind.
#define TAIL 0x80000000u

typedef struct {
    GLOBAL const u8 *text;
    u32 bytes, overlap;
    // Contexts in shared memory, or on the device in the linked form.
    LOCAL const u16 *contexts;
    GLOBAL const u32 *contexts_far;
    u32 start, bits, mask, letters;
    LOCAL const u8 *classes;
    // Stored transitions: the first ones in shared memory, all of them on the device.
    LOCAL const u32 *near;
    u32 near_slots;
    GLOBAL const u32 *slots;
    u32 slot_count;
    // The same with paths, and with how many lanes among them a warp has no use for these.
    GLOBAL const uint2 *far_slots;
    u32 few_deep;
    // By place, which is a slot, or a context behind the slots.
    GLOBAL const u16 *depths;
    GLOBAL const u32 *counts;
    GLOBAL const u32 *fails;
} Dfa;

// Four bytes in lower case, for sets that ignore the case of some pattern.
FUNCTION u32 lower_4(u32 x) {
    u32 low = x & 0x7f7f7f7fu;
    u32 upper = (low + 0x3f3f3f3fu) & ~(low + 0x25252525u) & ~x & 0x80808080u;
    return x | upper >> 2;
}

// How many labels are left of a path.
FUNCTION u32 labels_of(u32 rest) {
    return (31 - LEADING_ZEROS(rest)) / 8;
}

// The word of the state that a lane is in with so many labels before the path's end.
FUNCTION u32 on_path(const Dfa *d, u32 state, u32 rest) {
    return d->fails[3 * (state >> BASE) + labels_of(rest) - 1] | (state & COUNT);
}

// Whether that state stores nothing but the path.
FUNCTION bool is_alone(u32 rest) {
    return rest >> (9 * labels_of(rest) - 1) & 1;
}

// The state after a byte of class c. No branch depends on where the walk is, but for lanes that leave a path: loads are
// left out by predicates.
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

// The same for a byte, where `past` is what the context has of those before it.
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

// What a state reports beyond the 3 that its word can count.
FUNCTION u32 more(const Dfa *d, u32 state, u32 place) {
    return (state & COUNT) == COUNT ? d->counts[place] - 3 : 0;
}

// How many matches a state reports.
FUNCTION u32 matches(const Dfa *d, u32 state, u32 place) { return ((state & COUNT) >> 8) + more(d, state, place); }

// Four bytes of every lane, which report all they come by. The first of them has the context c * scale + past.
FUNCTION u32 four(const Dfa *d, u32 state, u32 *rest, u32 x, u32 end, u32 *past, u32 *scale, Gathered *g, u32 *counted,
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
        else gather(g, (state & COUNT) != 0, end + j + 1, place);
    }
    if (raw) *past = x >> 24, *scale = 256;
    return state;
}

// Behind the segment: as long as the state is longer than the bytes read there, something is alive that began before.
// What is shorter is left to the next lane. Returns how many matches there are if they are only counted: all that end, less
// those that the next lane comes by, which begins as this walk's second state does.
FUNCTION u32 tail(const Dfa *d, u32 state, u32 past, u32 to, bool alive, Gathered *g, const int raw, const int counts) {
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
        if (!counts) gather_pair(g, has, i, TAIL | place, i - to);
        else if (has) sum += matches(d, state, place) - matches(d, theirs, their_place);
    }
    return sum;
}

FUNCTION u64 scan(Dfa d, u32 positions, Gathered *g, const int raw, const int counts, const int paths) {
    const u64 share = (u64)LANES * positions, stride = (u64)GROUPS * (ITEMS / LANES) * share;
    GLOBAL const uint4 *input = (GLOBAL const uint4 *)d.text;
    u64 sum = 0;
    // All lanes of a warp take part to the end: they exchange what they found.
    for (u64 first = ((u64)GROUP * (ITEMS / LANES) + WARP) * share; first < d.bytes; first += stride) {
        u64 begin = first + (u64)LANE * positions;
        bool is = begin < d.bytes;
        u32 from = is ? (u32)begin : 0, to = !is ? 0 : d.bytes - from < positions ? d.bytes : from + positions;
        u32 state = 0, rest = 0, past = raw ? 256 : d.start;
        uint4 a = UINT4(0, 0, 0, 0), b = a;
        if (is) a = input[from / 16], b = input[from / 16 + 1];
        for (u32 i = from; ANY(i < to); i += 32) {
            uint4 next_a = a, next_b = b;
            if (i < to) next_a = input[i / 16 + 2], next_b = input[i / 16 + 3];
            if (!ANY(i < d.overlap || i + 32 > to)) {
                u32 scale = past > 255 ? 1 : 256, counted = 0;
                if (raw && past > 255) past = 65536;
                // Paths save loads and take instructions: they pay where many lanes are deep in the patterns.
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
                        gather(g, has, j + 1, place);
                    } else if (has) {
                        sum += matches(&d, state, place);
                    }
                }
            }
            a = next_a, b = next_b;
        }
        if (paths && rest > 255) state = on_path(&d, state, rest);
        sum += tail(&d, state, past, to, is && to < d.bytes, g, raw, counts);
    }
    return sum;
}

// Hostile sets: a state may leave transitions to its failure states, so that some bytes take many steps. Lanes do not
// wait for one another's bytes: each takes as many steps as it has bytes, and one back for each at most.
FUNCTION u64 scan_linked(Dfa d, u32 positions, Gathered *g, const int counts) {
    const u64 share = (u64)LANES * positions, stride = (u64)GROUPS * (ITEMS / LANES) * share;
    u64 sum = 0;
    for (u64 first = ((u64)GROUP * (ITEMS / LANES) + WARP) * share; first < d.bytes; first += stride) {
        u64 begin = first + (u64)LANE * positions;
        bool alive = begin < d.bytes;
        u32 i = alive ? (u32)begin : 0, to = d.bytes - i < positions ? d.bytes : i + positions;
        // Where the byte's transition is looked for: the state's place and word, then those of its failure states.
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
            gather_pair(g, has && is_behind, i, TAIL | place, i - to);
            if (!counts) {
                gather(g, has && !is_behind, i, place);
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
        GLOBAL u32 *RESTRICT found, u32 room SHARED(shared)

// Shared memory: contexts, the first slots, classes, and the records of the warps; in the end the sums of the items.
#define DFA(scanned, counting)                                                                                          \
    {                                                                                                                   \
        SHARED_HERE(shared)                                                                                             \
        LOCAL uint4 *near_words = shared + context_words, *class_words = near_words + near_slots / 4;                   \
        for (u32 i = ITEM; i < context_words; i += ITEMS) shared[i] = contexts[i];                                      \
        for (u32 i = ITEM; i < near_slots / 4; i += ITEMS) {                                                            \
            near_words[i] = ((GLOBAL const uint4 *)slots)[i];                                                           \
        }                                                                                                               \
        for (u32 i = ITEM; i < 16; i += ITEMS) class_words[i] = classes[i];                                             \
        BARRIER();                                                                                                      \
        Dfa d;                                                                                                          \
        d.text = text + at, d.bytes = bytes, d.overlap = overlap;                                                             \
        d.contexts = (LOCAL const u16 *)shared, d.contexts_far = (GLOBAL const u32 *)contexts;                          \
        d.start = start, d.bits = bits, d.mask = mask, d.letters = letters;                                             \
        d.classes = (LOCAL const u8 *)class_words;                                                                      \
        d.near = (LOCAL const u32 *)near_words, d.near_slots = near_slots, d.slots = slots, d.slot_count = slot_count;  \
        d.far_slots = (GLOBAL const uint2 *)(slots + slot_count), d.few_deep = few_deep;                                \
        d.depths = depths, d.counts = counts, d.fails = fails;                                                          \
        LOCAL u32 *records = (LOCAL u32 *)(class_words + 16);                                                           \
        Gathered g;                                                                                                     \
        g.found = found, g.room = room, g.held = 0, g.records = records + WARP * (2 * GATHERED);                        \
        u64 sum = scanned;                                                                                              \
        if (g.held) write_gathered(&g);                                                                                 \
        if (counting) add_up((LOCAL u64 *)shared, sum, sums);                                                           \
    }

// The sum of what the items of a group have.
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
KERNEL_OF(1024, 64) gpu_dfa_bytes(DFA_ARGS) DFA(scan(d, positions, &g, 1, 0, 0), 0)
KERNEL_OF(1024, 64) gpu_dfa_bytes_count(DFA_ARGS) DFA(scan(d, positions, &g, 1, 1, 0), 1)
KERNEL_OF(1024, 64) gpu_dfa_bytes_paths(DFA_ARGS) DFA(scan(d, positions, &g, 1, 0, 1), 0)
KERNEL_OF(1024, 64) gpu_dfa_bytes_paths_count(DFA_ARGS) DFA(scan(d, positions, &g, 1, 1, 1), 1)

// Few classes, and perhaps longer contexts.
KERNEL_OF(1024, 64) gpu_dfa_classes(DFA_ARGS) DFA(scan(d, positions, &g, 0, 0, 0), 0)
KERNEL_OF(1024, 64) gpu_dfa_classes_count(DFA_ARGS) DFA(scan(d, positions, &g, 0, 1, 0), 1)
KERNEL_OF(1024, 64) gpu_dfa_classes_paths(DFA_ARGS) DFA(scan(d, positions, &g, 0, 0, 1), 0)
KERNEL_OF(1024, 64) gpu_dfa_classes_paths_count(DFA_ARGS) DFA(scan(d, positions, &g, 0, 1, 1), 1)

// Hostile sets, and devices with little shared memory.
KERNEL_OF(1024, 64) gpu_dfa_linked(DFA_ARGS) DFA(scan_linked(d, positions, &g, 0), 0)
KERNEL_OF(1024, 64) gpu_dfa_linked_count(DFA_ARGS) DFA(scan_linked(d, positions, &g, 1), 1)

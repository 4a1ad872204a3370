// Tran et al. 2012, 4.2, fig. 6: each work item walks its chunk, and past it as far as a match
// from it may reach.

#define COLUMNS 257
// Flag of a record past the chunk.
#define PAST 0x80000000u

KERNEL(128) gpu_ac_global(GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 overlap, u32 positions, u32 after,
                          TEXTURE table, GLOBAL u32 *RESTRICT found, u32 room) {
    u64 first = ((u64)GROUP * ITEMS + ITEM) * positions;
    if (first >= bytes) return;
    u32 from = (u32)first;
    u32 to = bytes - from < positions ? bytes : from + positions;
    u32 stop = bytes - to < after ? bytes : to + after;
    GLOBAL const u8 *input = text + at;
    u32 state = 0;
    for (u32 end = from + 1; end <= stop; end++) {
        state = FETCH(table, state * COLUMNS + input[end - 1]);
        u32 longest = FETCH(table, state * COLUMNS + 256);
        u32 past = end > to ? end - to : 0;
        if (longest > past && end > overlap) record(found, room, end, past ? state | PAST : state);
    }
}

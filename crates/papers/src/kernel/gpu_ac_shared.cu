// Tran et al. 2012, 4.2, fig. 7 to 9: the work items of a group load its chunks by coalesced words
// and then walk in shared memory.

#define COLUMNS 257
// Flag of a record past the chunk.
#define PAST 0x80000000u

KERNEL(128) gpu_ac_shared(GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 overlap, u32 positions, u32 after,
                          TEXTURE table, GLOBAL u32 *RESTRICT found, u32 room SHARED(words)) {
    SHARED_HERE(words)
    u32 block = GROUP * ITEMS * positions;
    GLOBAL const u32 *input = (GLOBAL const u32 *)(text + at);
    LOCAL u32 *staged = (LOCAL u32 *)words;
    // Words of four bytes: those of the group, and those of the text.
    u32 count = (ITEMS * positions + after + 3) / 4;
    u32 all = (bytes + 3) / 4;
    for (u32 i = ITEM; i < count; i += ITEMS) {
        if (block / 4 + i < all) staged[i] = input[block / 4 + i];
    }
    BARRIER();

    u32 from = block + ITEM * positions;
    if (from >= bytes) return;
    u32 to = bytes - from < positions ? bytes : from + positions;
    u32 stop = bytes - to < after ? bytes : to + after;
    LOCAL const u8 *tile = (LOCAL const u8 *)words;
    u32 state = 0;
    for (u32 end = from + 1; end <= stop; end++) {
        state = FETCH(table, state * COLUMNS + tile[end - 1 - block]);
        u32 longest = FETCH(table, state * COLUMNS + 256);
        u32 past = end > to ? end - to : 0;
        if (longest > past && end > overlap) record(found, room, end, past ? state | PAST : state);
    }
}

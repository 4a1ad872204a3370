// Lin et al. 2010: one work item per position walks the trie until there is no transition.

// Bytes of text that a group stages: its positions, and as many after them, beyond which no walk
// gets.
#define STAGED 512

KERNEL(256) gpu_pfac(GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 finals, TEXTURE table,
                     GLOBAL u32 *RESTRICT output) {
    SHARED_ARRAY(u32, root, 256);
    SHARED_ARRAY(u32, words, STAGED / 4);
    u32 block = GROUP * ITEMS;
    GLOBAL const u32 *input = (GLOBAL const u32 *)(text + at);
    root[ITEM] = FETCH(table, ITEM);
    if (ITEM < STAGED / 4 && block + 4 * ITEM < bytes) words[ITEM] = input[block / 4 + ITEM];
    BARRIER();

    u32 i = block + ITEM;
    if (i >= bytes) return;
    LOCAL const u8 *staged = (LOCAL const u8 *)words;
    u32 state = root[staged[ITEM]];
    u32 found = 0;
    for (u32 j = ITEM + 1; state != 0; j++) {
        if (state <= finals) found = state;
        if (block + j >= bytes) break;
        state = FETCH(table, state * 256 + staged[j]);
    }
    output[i] = found;
}

// With mbm.h.
// Zha 2010, 6.5.1.2: the reversed trie in device memory.

#define CHILD(at) table[at]

KERNEL(64) gpu_mbm0(MBM_ARGS(GLOBAL const u32 *RESTRICT table)) MBM(CHILD)

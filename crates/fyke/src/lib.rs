//! fyke finds every occurrence of every pattern of a set, in any amount of data

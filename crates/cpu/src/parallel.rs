//! One large haystack on several threads.

//! Numbers and texts one after the other: the small sections of a database file.

/// Writes numbers and texts, in the byte order of the machine.
///
/// ```
/// use fyke_core::wire::{Reader, Writer};
/// let mut to = Writer::default();
/// to.number(7).text("sid").optional(None);
/// let bytes = to.finish();
/// let mut from = Reader::new(&bytes);
/// assert_eq!((from.number(), from.text(), from.optional()), (Some(7), Some("sid"), Some(None)));
/// assert!(from.is_empty() && from.number().is_none());
/// ```
#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

/// Reads what a [`Writer`] wrote. A call gives `None` where the bytes are not what it asks for.
#[derive(Debug)]
pub struct Reader<'a>(&'a [u8]);

impl Writer {
    /// Appends a number.
    pub fn number(&mut self, number: u64) -> &mut Self {
        self.0.extend(number.to_ne_bytes());
        self
    }

    /// Appends a number that may be missing.
    pub fn optional(&mut self, number: Option<u64>) -> &mut Self {
        self.number(u64::from(number.is_some())).number(number.unwrap_or(0))
    }

    /// Appends the length of a text, and the text.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// Appends the number of bytes, and the bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    /// What was written.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

impl<'a> Reader<'a> {
    /// A reader of these bytes.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    /// The next number.
    pub fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_ne_bytes(*number))
    }

    /// The next number, as 0 or 1.
    pub fn flag(&mut self) -> Option<bool> {
        match self.number()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// The next optional number.
    pub fn optional(&mut self) -> Option<Option<u64>> {
        let given = self.flag()?;
        let number = self.number()?;
        Some(given.then_some(number))
    }

    /// The next text, if it is UTF-8.
    pub fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    /// The next bytes that [`Writer::bytes`] wrote.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    /// The next number, as the length of a list whose elements take at least `each` bytes. `None`
    /// if that many bytes are not left, so that a forged length cannot allocate much memory.
    pub fn count(&mut self, each: usize) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count.checked_mul(each)? <= self.0.len()).then_some(count)
    }

    /// Whether all was read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

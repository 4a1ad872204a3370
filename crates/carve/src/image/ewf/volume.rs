//! The geometry of the disk, from the section `volume` or `disk`.

use super::super::raw::RawImage;
use super::section::{Section, read_checked};
use super::{adler32, le_u32, le_u64};

/// The bytes of the section's body.
const BODY: u64 = 1052;
/// The bytes of the body in the format of SMART, `.s01`.
const SMART_BODY: u64 = 94;
/// The largest chunk: 32,768 sectors of 4096 bytes.
const MAX_CHUNK: u64 = 128 << 20;

/// How many bytes the image has, and how they are cut into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Volume {
    /// The bytes of the image.
    pub(super) len: u64,
    /// The bytes of each chunk but the last.
    pub(super) chunk: u64,
}

impl Volume {
    pub(super) fn read(file: &RawImage, section: &Section) -> Result<Self, String> {
        let body = section.body();
        match body.end - body.start {
            BODY => Self::parse(&read_checked(file, body.start, BODY as usize)?),
            SMART_BODY => Err("it is an image of SMART (.s01), which fyke does not read; \
                 `ewfexport -f encase6` converts it"
                .into()),
            other => Err(format!("its volume section has {other} bytes instead of {BODY}")),
        }
    }

    fn parse(body: &[u8]) -> Result<Self, String> {
        if adler32(&body[..1048]) != le_u32(body, 1048) {
            return Err("the checksum of its volume section is wrong".into());
        }
        let (per_chunk, sector, sectors) = (le_u32(body, 8), le_u32(body, 12), le_u64(body, 16));
        let chunk = u64::from(per_chunk) * u64::from(sector);
        if chunk == 0 || chunk > MAX_CHUNK {
            return Err(format!(
                "its chunks have {per_chunk} sectors of {sector} bytes; a chunk has 1 to {MAX_CHUNK} bytes"
            ));
        }
        let len = sectors.checked_mul(u64::from(sector)).filter(|&len| len <= i64::MAX as u64);
        let len = len.ok_or_else(|| format!("it claims {sectors} sectors of {sector} bytes"))?;
        Ok(Self { len, chunk })
    }

    /// The number of chunks.
    pub(super) fn chunks(&self) -> u64 {
        self.len.div_ceil(self.chunk)
    }

    /// The bytes of a chunk that are the image's.
    pub(super) fn chunk_len(&self, chunk: u64) -> usize {
        (self.len - chunk * self.chunk).min(self.chunk) as usize
    }
}

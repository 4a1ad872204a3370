//! One member of a gzip file: a header, deflate data, and a checksum.

use super::input::Input;
use super::members::Member;
use super::push::PushReader;
use flate2::{Crc, Decompress};
use std::io::{self, BufRead, Read};

/// Flags of the header.
const HEADER_CRC: u8 = 1 << 1;
const EXTRA: u8 = 1 << 2;
const NAME: u8 = 1 << 3;
const COMMENT: u8 = 1 << 4;

/// Reads one member.
pub(super) struct Gzip {
    data: Data,
    crc: Crc,
}

enum Data {
    /// Before the header.
    Start(Option<Input>),
    Inside(PushReader<Decompress>),
    /// After the checksum.
    End(Input),
}

impl Member for Gzip {
    fn open(input: Input) -> Self {
        Self { data: Data::Start(Some(input)), crc: Crc::new() }
    }

    fn close(self) -> Option<Input> {
        match self.data {
            Data::End(input) => Some(input),
            Data::Start(_) | Data::Inside(_) => None,
        }
    }
}

impl Read for Gzip {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if let Data::Start(input) = &mut self.data {
            let Some(mut input) = input.take() else { return Ok(0) };
            skip_header(&mut input)?;
            self.data = Data::Inside(PushReader::new(input));
        }
        let Data::Inside(inside) = &mut self.data else { return Ok(0) };
        let n = inside.read(to)?;
        self.crc.update(&to[..n]);
        if n == 0 && !to.is_empty() {
            self.end()?;
        }
        Ok(n)
    }
}

impl Gzip {
    /// Checks what follows the data.
    fn end(&mut self) -> io::Result<()> {
        let Data::Inside(inside) = std::mem::replace(&mut self.data, Data::Start(None)) else {
            return Ok(());
        };
        let mut input = inside.into_input();
        let (mut crc, mut size) = ([0; 4], [0; 4]);
        input.read_exact(&mut crc)?;
        input.read_exact(&mut size)?;
        if u32::from_le_bytes(crc) != self.crc.sum() {
            return Err(invalid("the checksum does not match"));
        }
        if u32::from_le_bytes(size) != self.crc.amount() {
            return Err(invalid("the length does not match"));
        }
        self.data = Data::End(input);
        Ok(())
    }
}

fn skip_header(input: &mut Input) -> io::Result<()> {
    let mut header = [0; 10];
    input.read_exact(&mut header)?;
    let [_, _, method, flags, ..] = header;
    if method != 8 || flags & 0xe0 != 0 {
        return Err(invalid("the header has an unknown method or flag"));
    }
    if flags & EXTRA != 0 {
        let mut len = [0; 2];
        input.read_exact(&mut len)?;
        skip(input, u64::from(u16::from_le_bytes(len)))?;
    }
    for flag in [NAME, COMMENT] {
        if flags & flag != 0 && input.skip_until(0)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    if flags & HEADER_CRC != 0 {
        skip(input, 2)?;
    }
    Ok(())
}

fn skip(input: &mut Input, len: u64) -> io::Result<()> {
    let skipped = io::copy(&mut input.take(len), &mut io::sink())?;
    if skipped == len { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

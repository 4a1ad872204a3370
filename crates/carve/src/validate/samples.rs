//! The smallest files of some formats, for tests.

use crc32fast::hash;

/// A picture of one scan. Its data has a stuffed byte and a restart marker.
pub(crate) fn jpeg() -> Vec<u8> {
    let mut file = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00".to_vec();
    file.extend(b"\xff\xdb\x00\x43\x00");
    file.extend([1; 64]);
    file.extend(b"\xff\xc0\x00\x0b\x08\x00\x08\x00\x08\x01\x01\x11\x00");
    file.extend(
        b"\xff\xc4\x00\x14\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05",
    );
    file.extend(
        b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00\x12\xff\x00\x34\xff\xd0\x56\xff\xff\xd9",
    );
    file
}

/// A picture of one pixel.
pub(crate) fn png() -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let chunks: [(&[u8; 4], &[u8]); 3] = [
        (b"IHDR", b"\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00"),
        (b"IDAT", b"\x78\x9c\x63\x60\x00\x00\x00\x02\x00\x01"),
        (b"IEND", b""),
    ];
    for (kind, data) in chunks {
        file.extend((data.len() as u32).to_be_bytes());
        let checked = [kind, data].concat();
        file.extend(&checked);
        file.extend(hash(&checked).to_be_bytes());
    }
    file
}

/// A picture of one pixel, with a comment.
pub(crate) fn gif() -> Vec<u8> {
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff\x21\xfe\x02hi\x00\
      \x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00\x3b"
        .to_vec()
}

/// A document with a cross-reference table.
pub(crate) fn pdf() -> Vec<u8> {
    let mut file = b"%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n".to_vec();
    let second = file.len();
    file.extend(b"2 0 obj\n<</Type/Pages/Kids[]/Count 0>>\nendobj\n");
    let table = file.len();
    file.extend(b"xref\n0 3\n0000000000 65535 f \n0000000009 00000 n \n");
    file.extend(format!("{second:010} 00000 n \n").bytes());
    file.extend(b"trailer\n<</Size 3/Root 1 0 R>>\nstartxref\n");
    file.extend(format!("{table}\n%%EOF\n").bytes());
    file
}

/// A document whose cross-reference table is a stream.
pub(crate) fn pdf_with_stream() -> Vec<u8> {
    let mut file = b"%PDF-1.5\n".to_vec();
    file.extend(b"3 0 obj\n<</Type/XRef/Length 0>>\nstream\n\nendstream\nendobj\n");
    file.extend(b"startxref\r\n9\r\n%%EOF\r\n");
    file
}

/// An archive of two files that are stored. `described` has lengths in descriptors after the data.
pub(crate) fn zip(described: bool) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, data) in [("a.txt", &b"hello"[..]), ("bb", b"PK\x07\x08, not")] {
        let offset = file.len() as u32;
        let lens = [hash(data), data.len() as u32, data.len() as u32];
        let shown = if described { [0; 3] } else { lens };
        let flags = if described { b"\x08\x00" } else { b"\x00\x00" };
        let fields = |lens: [u32; 3]| {
            let mut fields = b"\x14\x00".to_vec();
            fields.extend(flags);
            fields.extend(b"\x00\x00\x00\x00\x21\x58");
            fields.extend(lens.iter().flat_map(|n| n.to_le_bytes()));
            fields.extend((name.len() as u16).to_le_bytes());
            fields.extend([0; 2]);
            fields
        };
        file.extend(b"PK\x03\x04");
        file.extend(fields(shown));
        file.extend(name.bytes());
        file.extend(data);
        if described {
            file.extend(b"PK\x07\x08");
            file.extend(lens.iter().flat_map(|n| n.to_le_bytes()));
        }
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(fields(lens));
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.bytes());
    }
    let offset = file.len() as u32;
    file.extend(&directory);
    file.extend(b"PK\x05\x06\x00\x00\x00\x00\x02\x00\x02\x00");
    file.extend((directory.len() as u32).to_le_bytes());
    file.extend(offset.to_le_bytes());
    file.extend(b"\x03\x00end");
    file
}

/// A sample of each format, with its name.
pub(crate) fn all() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("jpeg", jpeg()),
        ("png", png()),
        ("gif", gif()),
        ("pdf", pdf()),
        ("pdf with stream", pdf_with_stream()),
        ("zip", zip(false)),
        ("zip with descriptors", zip(true)),
    ]
}

//! Small, sound pictures of each kind, and PNG's parts.

/// 1 x 1, one colour.
pub fn gif() -> Vec<u8> {
    [
        &b"GIF89a\x01\0\x01\0\x80\0\0"[..],
        &[255, 0, 0, 0, 0, 255],
        b"\x2c\0\0\0\0\x01\0\x01\0\0",
        b"\x02\x02\x44\x01\0",
        b"\x3b",
    ]
    .concat()
}

/// Lossless, 1 x 1.
pub fn webp() -> Vec<u8> {
    [&b"RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0"[..], b"\x2f\0\0\0\x10\x07\x10\x11\x11\x88\x88\xfe\x07\0"].concat()
}

pub fn png() -> Vec<u8> {
    png_of([2, 2], &[])
}

/// Grey, with a header of these sides over the pixels of 2 x 2, and more chunks before them.
pub(super) fn png_of([width, height]: [u32; 2], chunks: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
    // Two rows of a filter and two pixels, in one block that is not compressed.
    let rows = [0, 10, 20, 0, 30, 40];
    let data = [&[0x78, 0x01, 0x01, 6, 0, 0xF9, 0xFF][..], &rows, &adler32(&rows).to_be_bytes()].concat();
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    bytes.extend(png_chunk(b"IHDR", &header));
    for (name, content) in chunks {
        bytes.extend(png_chunk(name, content));
    }
    bytes.extend(png_chunk(b"IDAT", &data));
    bytes.extend(png_chunk(b"IEND", &[]));
    bytes
}

fn png_chunk(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let named = [name, content].concat();
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    [&length[..], &named, &crc32(&named).to_be_bytes()].concat()
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg()))
    };
    !bytes.iter().fold(u32::MAX, step)
}

fn adler32(bytes: &[u8]) -> u32 {
    let (low, high) = bytes.iter().fold((1_u32, 0_u32), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    high << 16 | low
}

/// 8 x 8, grey: tables of one code each, and a block of its mean alone.
pub fn jpeg() -> Vec<u8> {
    jpeg_of([8, 8], 0xC0, 1)
}

/// With a frame of these sides and this marker, and so many scans of the same one block.
pub(super) fn jpeg_of([width, height]: [u16; 2], frame: u8, scans: usize) -> Vec<u8> {
    let [wide, high] = [width.to_be_bytes(), height.to_be_bytes()];
    let mut bytes = b"\xFF\xD8\xFF\xE0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0".to_vec();
    bytes.extend([&[0xFF, 0xDB, 0, 67, 0][..], &[1; 64]].concat());
    bytes.extend([0xFF, frame, 0, 11, 8, high[0], high[1], wide[0], wide[1], 1, 1, 0x11, 0]);
    for class in [0x00, 0x10] {
        // One code of one bit, for the value nought.
        bytes.extend([0xFF, 0xC4, 0, 20, class, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
    for _ in 0..scans {
        bytes.extend([0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0]);
        bytes.push(0x3F);
    }
    bytes.extend([0xFF, 0xD9]);
    bytes
}

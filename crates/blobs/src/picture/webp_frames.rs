//! How large the frames of a WebP file say they are, before a decoder believes them.

/// The largest of the canvas and all frames; none where the file can't be followed.
pub(super) fn largest_frame(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut largest = None;
    collect(bytes.get(12..)?, ChunkPlace::File, &mut largest)?;
    largest
}

/// Where chunks lie. A frame is followed from the file alone: frames within frames are in no file that a program has written, and would
/// take as much stack as whoever wrote them likes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChunkPlace {
    File,
    Frame,
}

fn collect(mut chunks: &[u8], place: ChunkPlace, largest: &mut Option<(u32, u32)>) -> Option<()> {
    while let Some((head, rest)) = chunks.split_at_checked(8) {
        let length = u32::from_le_bytes(head.get(4..8)?.try_into().ok()?) as usize;
        // A cut file's last chunk is shorter than it says; its decoder will notice.
        let (content, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        let size = match &head[..4] {
            b"VP8X" => Some((read_u24(content.get(4..7)?) + 1, read_u24(content.get(7..10)?) + 1)),
            b"VP8 " => Some((read_u14(content.get(6..8)?), read_u14(content.get(8..10)?))),
            b"VP8L" => {
                let bits = u32::from_le_bytes(content.get(1..5)?.try_into().ok()?);
                Some(((bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1))
            }
            b"ANMF" if place == ChunkPlace::Frame => return None,
            b"ANMF" => {
                collect(content.get(16..)?, ChunkPlace::Frame, largest)?;
                None
            }
            _ => None,
        };
        let area = |(width, height): (u32, u32)| u64::from(width) * u64::from(height);
        *largest = (*largest).into_iter().chain(size).max_by_key(|size| area(*size));
        chunks = after.get(length % 2..).unwrap_or_default();
    }
    Some(())
}

fn read_u24(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn read_u14(bytes: &[u8]) -> u32 {
    read_u24(bytes) & 0x3FFF
}

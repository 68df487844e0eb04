//! What is shown of a picture: decoded, turned upright, shrunk, and encoded anew as JPEG. Nothing of the original's bytes is in it: no
//! metadata, no place where it was taken, nothing that hides behind its end.
//!
//! Before anything is decoded its size is read, and what would need more memory than is allowed is refused.

mod decode;
mod encode;
mod orientation;
mod shrink;
mod webp_frames;

use self::orientation::Orientation;
use crate::media_type::MediaType;
use crate::refusal::UploadRefusal;

/// The longest side of what is shown.
const LONGEST_SIDE: u32 = 2048;

/// A picture to be shown, as JPEG.
#[derive(Debug)]
pub(crate) struct PicturePreview {
    pub(crate) jpeg: Vec<u8>,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// Rows of pixels as a decoder gives them.
struct DecodedPicture {
    width: u32,
    height: u32,
    /// 1 grey, 2 grey and alpha, 3 colours, 4 colours and alpha.
    channels: usize,
    pixels: Vec<u8>,
    orientation: Orientation,
}

/// Makes what is shown of a picture. `memory` is how many bytes decoding may take.
pub(crate) fn render_preview(
    bytes: &[u8],
    media_type: MediaType,
    memory: u64,
) -> Result<PicturePreview, UploadRefusal> {
    let decoded = match media_type {
        MediaType::Jpeg => decode::jpeg(bytes, memory),
        MediaType::Png => decode::png(bytes, memory),
        MediaType::Gif => decode::gif(bytes, memory),
        MediaType::Webp => decode::webp(bytes, memory),
        _ => Err(UploadRefusal::DamagedPicture),
    }?;
    let orientation = decoded.orientation;
    let shrunk = shrink::shrink(&decoded, LONGEST_SIDE);
    drop(decoded);
    let upright = orientation.apply(shrunk);
    let ShrunkPicture { width, height, rgb } = &upright;
    let jpeg = encode::encode_jpeg(*width, *height, rgb).ok_or(UploadRefusal::DamagedPicture)?;
    Ok(PicturePreview { jpeg, width: *width, height: *height })
}

/// Colours without alpha, small.
struct ShrunkPicture {
    width: u32,
    height: u32,
    rgb: Vec<u8>,
}

#[cfg(test)]
mod tests;

//! One function for each kind of picture. Each reads the size first and decodes only what fits.

use std::io::Cursor;

use gif::{ColorOutput, DecodeOptions, MemoryLimit};
use image_webp::WebPDecoder;
use png::{Limits, Transformations};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::DecodedPicture;
use super::orientation::Orientation;
use super::webp_frames::largest_frame;
use crate::refusal::UploadRefusal;

/// What a decoder needs for a pixel at its worst, its own buffers included.
const JPEG: u64 = 4;
/// All coefficients are kept until the last scan, of four components at most.
const MANY_SCANS_JPEG: u64 = 11;
const PNG: u64 = 5;
const GIF: u64 = 5;
const WEBP: u64 = 9;
/// As many as any camera makes; more is a way to keep a processor busy.
const MOST_SCANS: usize = 40;

fn check_size((width, height): (u32, u32), bytes_each: u64, memory: u64) -> Result<(), UploadRefusal> {
    if width == 0 || height == 0 {
        return Err(UploadRefusal::DamagedPicture);
    }
    let needed = u64::from(width).saturating_mul(u64::from(height)).saturating_mul(bytes_each);
    if needed > memory { Err(UploadRefusal::TooManyPixels { width, height }) } else { Ok(()) }
}

fn damaged<E: std::fmt::Display>(error: E) -> UploadRefusal {
    tracing::debug!(%error, "a picture can't be decoded");
    UploadRefusal::DamagedPicture
}

pub(super) fn jpeg(bytes: &[u8], memory: u64) -> Result<DecodedPicture, UploadRefusal> {
    let longest = usize::from(u16::MAX);
    let options = DecoderOptions::default()
        .jpeg_set_out_colorspace(ColorSpace::RGB)
        .jpeg_set_max_scans(MOST_SCANS)
        .set_max_width(longest)
        .set_max_height(longest);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(damaged)?;
    let info = decoder.info().ok_or(UploadRefusal::DamagedPicture)?;
    let (width, height) = (u32::from(info.width), u32::from(info.height));
    let bytes_each = if has_many_scans(bytes) { MANY_SCANS_JPEG } else { JPEG };
    check_size((width, height), bytes_each, memory)?;
    let orientation = Orientation::from_exif(decoder.exif().map(Vec::as_slice));
    let pixels = decoder.decode().map_err(damaged)?;
    if pixels.len() as u64 != u64::from(width) * u64::from(height) * 3 {
        return Err(UploadRefusal::DamagedPicture);
    }
    Ok(DecodedPicture { width, height, channels: 3, pixels, orientation })
}

/// Whether a decoder keeps the whole picture until its last scan: where it is progressive, where the first scan lacks a component, and where
/// its markers can't be followed.
fn has_many_scans(bytes: &[u8]) -> bool {
    let mut rest = bytes.get(2..).unwrap_or_default();
    let mut in_frame = None;
    loop {
        let content = match rest {
            [0xFF, 0xFF, ..] => {
                rest = &rest[1..];
                continue;
            }
            [0xFF, _, content @ ..] => content,
            _ => return true,
        };
        match rest[1] {
            0xC0 | 0xC1 if in_frame.is_none() => in_frame = content.get(7),
            0xDA => return in_frame.is_none() || content.get(2) != in_frame,
            // Tables, applications' own, comments. Nothing else stands before the first scan, and some of it has no length.
            0xC4 | 0xDB | 0xDD | 0xE0..=0xEF | 0xFE => {}
            _ => return true,
        }
        let [high, low, ..] = content else { return true };
        let Some(next) = content.get(usize::from(u16::from_be_bytes([*high, *low]))..) else { return true };
        rest = next;
    }
}

pub(super) fn png(bytes: &[u8], memory: u64) -> Result<DecodedPicture, UploadRefusal> {
    let limit = usize::try_from(memory).unwrap_or(usize::MAX);
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), Limits { bytes: limit });
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let (width, height) = decoder.read_header_info().map_err(damaged)?.size();
    check_size((width, height), PNG, memory)?;
    let mut reader = decoder.read_info().map_err(damaged)?;
    let needed = reader.output_buffer_size().ok_or(UploadRefusal::TooManyPixels { width, height })?;
    let mut pixels = vec![0; needed];
    let frame = reader.next_frame(&mut pixels).map_err(damaged)?;
    // An animation's first frame may be smaller than its canvas.
    if (frame.width, frame.height) != (width, height) {
        return Err(UploadRefusal::DamagedPicture);
    }
    pixels.truncate(frame.buffer_size());
    let orientation = Orientation::from_exif(reader.info().exif_metadata.as_deref());
    Ok(DecodedPicture { width, height, channels: frame.color_type.samples(), pixels, orientation })
}

pub(super) fn gif(bytes: &[u8], memory: u64) -> Result<DecodedPicture, UploadRefusal> {
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::RGBA);
    options.check_frame_consistency(true);
    let limit = std::num::NonZeroU64::new(memory).unwrap_or(std::num::NonZeroU64::MIN);
    options.set_memory_limit(MemoryLimit::Bytes(limit));
    let mut decoder = options.read_info(Cursor::new(bytes)).map_err(damaged)?;
    let (width, height) = (u32::from(decoder.width()), u32::from(decoder.height()));
    check_size((width, height), 2 * GIF, memory)?;
    let frame = decoder.read_next_frame().map_err(damaged)?.ok_or(UploadRefusal::DamagedPicture)?;
    // The first frame on an empty canvas.
    let mut pixels = vec![0; width as usize * height as usize * 4];
    let (left, row) = (usize::from(frame.left) * 4, usize::from(frame.width) * 4);
    if row == 0 {
        return Err(UploadRefusal::DamagedPicture);
    }
    let canvas_rows = pixels.chunks_exact_mut(width as usize * 4).skip(usize::from(frame.top));
    for (canvas, given) in canvas_rows.zip(frame.buffer.chunks_exact(row)) {
        canvas.get_mut(left..left + row).ok_or(UploadRefusal::DamagedPicture)?.copy_from_slice(given);
    }
    Ok(DecodedPicture { width, height, channels: 4, pixels, orientation: Orientation::Upright })
}

pub(super) fn webp(bytes: &[u8], memory: u64) -> Result<DecodedPicture, UploadRefusal> {
    // A frame may claim to be larger than the canvas, and is decoded before that is noticed.
    let largest = largest_frame(bytes).ok_or(UploadRefusal::DamagedPicture)?;
    check_size(largest, WEBP, memory)?;
    let mut decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(damaged)?;
    decoder.set_memory_limit(usize::try_from(memory).unwrap_or(usize::MAX));
    let (width, height) = decoder.dimensions();
    check_size((width, height), WEBP, memory)?;
    let needed = decoder.output_buffer_size().ok_or(UploadRefusal::TooManyPixels { width, height })?;
    let mut pixels = vec![0; needed];
    decoder.read_image(&mut pixels).map_err(damaged)?;
    let channels = if decoder.has_alpha() { 4 } else { 3 };
    let orientation = Orientation::from_exif(decoder.exif_metadata().ok().flatten().as_deref());
    Ok(DecodedPicture { width, height, channels, pixels, orientation })
}

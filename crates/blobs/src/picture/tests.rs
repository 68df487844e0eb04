use super::*;

const MEMORY: u64 = 64 << 20;

fn png_of(width: u32, height: u32, rgba: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.add_text_chunk("Location".to_owned(), "19.0760,72.8777".to_owned()).unwrap();
    encoder.write_header().unwrap().write_image_data(rgba).unwrap();
    bytes
}

/// Grey, as our own encoder writes it, with EXIF where there is some.
fn jpeg_of(width: u32, height: u32, exif: Option<&[u8]>) -> Vec<u8> {
    let rgb = vec![120; (width * height * 3) as usize];
    let mut bytes = encode::encode_jpeg(width, height, &rgb).unwrap();
    if let Some(exif) = exif {
        let length = u16::try_from(exif.len() + 8).unwrap().to_be_bytes();
        let segment = [&[0xFF, 0xE1], &length[..], b"Exif\0\0", exif].concat();
        bytes.splice(2..2, segment);
    }
    bytes
}

/// 30 x 20, written by another program.
const PROGRESSIVE: &[u8] = include_bytes!("../../tests/fixtures/progressive.jpg");

fn gif_of(width: u16, height: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = gif::Encoder::new(&mut bytes, width, height, &[255, 0, 0, 0, 0, 255]).unwrap();
    let pixels = vec![1; usize::from(width) * usize::from(height)];
    encoder.write_frame(&gif::Frame::from_indexed_pixels(width, height, pixels, None)).unwrap();
    drop(encoder);
    bytes
}

fn webp_of(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let rgb = vec![200; (width * height * 3) as usize];
    image_webp::WebPEncoder::new(&mut bytes)
        .encode(&rgb, width, height, image_webp::ColorType::Rgb8)
        .unwrap();
    bytes
}

#[test]
fn every_kind_becomes_a_jpeg_of_its_shape_without_what_was_written_into_it() {
    let exif: &[u8] = b"MM\0\x2A\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0GPS 19.0760";
    for (what, bytes, media_type, shape) in [
        ("png", png_of(3, 2, &[9; 24]), MediaType::Png, (3, 2)),
        ("jpeg", jpeg_of(30, 20, None), MediaType::Jpeg, (30, 20)),
        ("progressive", PROGRESSIVE.to_vec(), MediaType::Jpeg, (30, 20)),
        ("turned", jpeg_of(30, 20, Some(exif)), MediaType::Jpeg, (20, 30)),
        ("gif", gif_of(7, 5), MediaType::Gif, (7, 5)),
        ("webp", webp_of(8, 6), MediaType::Webp, (8, 6)),
        ("large", jpeg_of(4096, 1024, None), MediaType::Jpeg, (2048, 512)),
        ("trailed", [gif_of(7, 5), b"PK\x03\x04<script>GPS".to_vec()].concat(), MediaType::Gif, (7, 5)),
    ] {
        let preview = render_preview(&bytes, media_type, MEMORY).unwrap();
        assert_eq!((preview.width, preview.height), shape, "{what}");
        assert!(preview.jpeg.starts_with(&[0xFF, 0xD8, 0xFF]) && preview.jpeg.ends_with(&[0xFF, 0xD9]));
        for leak in [&b"GPS"[..], b"19.0760", b"Exif", b"script"] {
            assert!(!preview.jpeg.windows(leak.len()).any(|part| part == leak), "{what}");
        }
        let again = render_preview(&preview.jpeg, MediaType::Jpeg, MEMORY).unwrap();
        assert_eq!((again.width, again.height), shape, "what is shown can be decoded");
    }
}

#[test]
fn a_picture_that_claims_more_than_fits_is_refused_before_it_is_decoded() {
    let too_many = |width, height| UploadRefusal::TooManyPixels { width, height };
    let mut png = png_of(1, 1, &[0; 4]);
    png[16..24].copy_from_slice(&[0, 0, 0xC3, 0x50, 0, 0, 0xC3, 0x50]);
    let checksum = crc32(&png[12..29]);
    png[29..33].copy_from_slice(&checksum.to_be_bytes());
    assert_eq!(render_preview(&png, MediaType::Png, MEMORY).unwrap_err(), too_many(50_000, 50_000));
    let mut gif = gif_of(2, 2);
    gif[6..10].copy_from_slice(&[0xFF; 4]);
    assert_eq!(render_preview(&gif, MediaType::Gif, MEMORY).unwrap_err(), too_many(65_535, 65_535));
    let mut progressive = PROGRESSIVE.to_vec();
    let frame = progressive.windows(2).position(|mark| mark == [0xFF, 0xC2]).unwrap();
    progressive[frame + 5..frame + 9].copy_from_slice(&[0x0B, 0xB8, 0x0B, 0xB8]);
    assert_eq!(render_preview(&progressive, MediaType::Jpeg, MEMORY).unwrap_err(), too_many(3000, 3000));
    let mut scans = jpeg_of(3000, 3000, None);
    assert!(render_preview(&scans, MediaType::Jpeg, MEMORY).is_ok());
    // The other components come in scans of their own, and wait for each other in memory.
    let scan = scans.windows(2).position(|mark| mark == [0xFF, 0xDA]).unwrap();
    scans.splice(scan + 2..scan + 14, [0, 8, 1, 1, 0, 0, 63, 0]);
    assert_eq!(render_preview(&scans, MediaType::Jpeg, MEMORY).unwrap_err(), too_many(3000, 3000));
    // A frame of 16,383 pixels each way on a canvas of ten.
    let mut frame = vec![0, 0, 0, 0x9D, 0x01, 0x2A, 0xFF, 0x3F, 0xFF, 0x3F];
    frame.resize(40, 0);
    let canvas = [0, 0, 0, 0, 9, 0, 0, 9, 0, 0];
    let chunk = |name: &[u8], content: &[u8]| {
        [name, &u32::try_from(content.len()).unwrap().to_le_bytes(), content].concat()
    };
    let chunks = [chunk(b"VP8X", &canvas), chunk(b"VP8 ", &frame)].concat();
    let webp =
        [&b"RIFF"[..], &u32::try_from(chunks.len() + 4).unwrap().to_le_bytes(), b"WEBP", &chunks].concat();
    assert_eq!(render_preview(&webp, MediaType::Webp, MEMORY).unwrap_err(), too_many(16_383, 16_383));
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg()))
    };
    !bytes.iter().fold(u32::MAX, step)
}

#[test]
fn cut_and_altered_pictures_are_refused_or_shown_and_never_stop_the_program() {
    let samples = [
        (png_of(20, 20, &[90; 1600]), MediaType::Png),
        (jpeg_of(40, 40, None), MediaType::Jpeg),
        (PROGRESSIVE.to_vec(), MediaType::Jpeg),
        (gif_of(20, 20), MediaType::Gif),
        (webp_of(20, 20), MediaType::Webp),
    ];
    for (bytes, media_type) in samples {
        for at in 4..bytes.len() {
            let mut altered = bytes.clone();
            altered[at] ^= 0x5A;
            let _shown_or_refused = render_preview(&altered, media_type, MEMORY);
            if at % 7 == 0 {
                let _shown_or_refused = render_preview(&bytes[..at], media_type, MEMORY);
            }
        }
        assert!(render_preview(&bytes[..8], media_type, MEMORY).is_err());
    }
}

//! A file as clients see it, with addresses that work for a while.

use std::time::Duration;

use munshi_blobs::references::{BlobHolder, find_name, is_attached, parse_reference};
use munshi_blobs::{Blob, BlobVariant, address, rows};
use munshi_conversations::messages::Message;
use munshi_server::error::ApiError;
use munshi_store::Tx;
use munshi_types::{BlobId, MessageId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::files::errors::convert_file_error;
use crate::files::response::encode;

/// A file.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = File)]
pub(crate) struct FileView {
    /// Name it in `attachments` of a message.
    #[schema(value_type = uuid::Uuid)]
    pub(crate) id: BlobId,
    /// Found by its bytes.
    #[schema(example = "image/jpeg")]
    pub(crate) media_type: &'static str,
    /// In bytes.
    size: u64,
    #[schema(example = "bill.jpg")]
    pub(crate) name: Option<String>,
    /// Where it can be downloaded. The address needs no key and expires.
    #[schema(example = "/files/AZ…/bill.jpg")]
    pub(crate) url: String,
    /// What is shown of a picture: a JPEG made of its pixels alone.
    pub(crate) preview: Option<FilePreview>,
}

/// A picture to show.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct FilePreview {
    #[schema(example = "/files/AZ…/bill.jpg")]
    pub(crate) url: String,
    /// In pixels.
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// When addresses are made, and how long they work at least.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressTerms {
    pub(crate) now: Timestamp,
    pub(crate) lifetime: Duration,
}

impl FileView {
    /// What it is called where it is named.
    pub(crate) fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(self.media_type)
    }

    pub(crate) fn build(
        tx: &Tx<'_>,
        blob: &Blob,
        name: Option<String>,
        terms: AddressTerms,
    ) -> Result<Self, ApiError> {
        let shown = encode(name.as_deref().unwrap_or("file"));
        let url = |variant| {
            let signed = address::sign(tx, blob.id, variant, (terms.now, terms.lifetime));
            signed.map(|address| format!("/files/{address}/{shown}")).map_err(convert_file_error)
        };
        let preview = blob.preview.map(|size| {
            let url = url(BlobVariant::Preview)?;
            Ok::<_, ApiError>(FilePreview { url, width: size.width, height: size.height })
        });
        Ok(Self {
            id: blob.id,
            media_type: blob.media_type.as_str(),
            size: blob.size,
            url: url(BlobVariant::Original)?,
            preview: preview.transpose()?,
            name,
        })
    }
}

/// The files that a message carries. One that was removed meanwhile is not there, nor one that the message only names: whatever id stands in it,
/// nobody gets the address of a file that does not hang on it.
pub(crate) fn list_files(
    tx: &mut Tx<'_>,
    message: &Message,
    terms: AddressTerms,
) -> Result<Vec<FileView>, ApiError> {
    let ids = message.attached.iter().filter_map(|attached| parse_reference(&attached.reference));
    list_files_of(tx, message.id, ids, terms)
}

/// The same by the ids that stand in a message.
pub(crate) fn list_files_of(
    tx: &mut Tx<'_>,
    message: MessageId,
    ids: impl Iterator<Item = BlobId>,
    terms: AddressTerms,
) -> Result<Vec<FileView>, ApiError> {
    let mut views = Vec::new();
    for id in ids {
        if !is_attached(tx, id, message)? {
            continue;
        }
        if let Some(blob) = rows::find(tx, id)? {
            let name = find_name(tx, id, BlobHolder::Message(message))?;
            views.push(FileView::build(tx, &blob, name, terms)?);
        }
    }
    Ok(views)
}

//! Pictures and PDFs that came with the person's message, for models that can see and may.
//!
//! What a picture shows can't be hidden as names in a text can. So models elsewhere get none unless the tenant allows it
//! (`residency.pictures`); a model that is not shown one is told so, and that it must not guess.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use munshi_blobs::references::parse_reference;
use munshi_blobs::{BlobService, BlobVariant, MediaType};
use munshi_llm::chat::{ModelMedia, ModelMediaSource};
use munshi_llm::gateway::{Capability, ModelRoute};
use munshi_llm::{ChatRequest, ModelMessagePart};
use munshi_safety::pipeline::TaintSource;
use munshi_types::{AttachedFile, BlobId, TenantId};

use super::Turn;

/// More of one message are named and not shown.
const MOST: usize = 5;
/// A larger PDF is named and not shown: it would cost what a book costs.
const LARGEST_DOCUMENT: u64 = 10 << 20;

/// What came with the message of a turn.
#[derive(Debug, Default)]
pub(super) struct MessageMedia {
    /// `"bill.jpg" (image/jpeg)`
    names: Vec<String>,
    parts: Vec<ModelMessagePart>,
}

/// Why a model is not shown what came.
enum Unseen {
    /// Nothing that a model could see: a sound, a large document.
    Kind,
    /// No model of the route can see.
    Unable,
    /// Those that can are elsewhere, and the tenant does not let pictures go there.
    Private,
}

impl Unseen {
    const fn reason(&self) -> &'static str {
        match self {
            Self::Kind => "files of this kind or size can't be opened here",
            Self::Unable => "no model that may answer here can see files",
            Self::Private => "this business does not let pictures and documents go to models elsewhere",
        }
    }
}

impl Turn {
    /// Reads what came with the message, once a turn. What can't be read is not shown; the turn goes on.
    pub(super) async fn load_media(&mut self) {
        let attached = self.setup.prepared.message.attached.clone();
        if self.media.is_some() || attached.is_empty() {
            return;
        }
        let mut media = MessageMedia::default();
        for file in attached.iter().filter(|file| parse_reference(&file.reference).is_some()) {
            let name = serde_json::Value::from(file.name.clone().unwrap_or_default());
            media.names.push(format!("{name} ({})", file.media_type));
            if media.parts.len() < MOST
                && let Some(files) = &self.setup.engine.settings.files
                && let Some(part) = load_part(files, self.setup.tenant(), file).await
            {
                media.parts.push(part);
            }
        }
        self.media = Some(media);
    }

    /// Puts what came into the person's message, or why it is not there.
    pub(super) fn add_media(&mut self, request: &mut ChatRequest) {
        let Some(media) = self.media.as_ref().filter(|media| !media.names.is_empty()) else { return };
        // Behind it stands each step of this turn, a message of the model and one of tools.
        let index = request.messages.len().checked_sub(1 + 2 * self.state.snapshot.exchanges.len());
        let Some(index) = index.filter(|index| *index < request.messages.len()) else { return };
        let names = media.names.join(", ");
        let mut shown = request.clone();
        shown.messages[index].parts.extend(media.parts.iter().cloned());
        let route = self.setup.route_for(&self.state.snapshot);
        let unseen = match can_answer(&route, &shown, self) {
            _ if media.parts.is_empty() => Unseen::Kind,
            true => {
                let note = format!("\n\n[Sent along: {names}]");
                shown.messages[index].parts.push(ModelMessagePart::Text { text: note });
                *request = shown;
                // What stands in a picture may be anybody's words.
                self.state.snapshot.taint.sources.insert(TaintSource::Document);
                return;
            }
            false if can_answer(&ModelRoute { hides_media: false, ..(*route).clone() }, &shown, self) => {
                Unseen::Private
            }
            false => Unseen::Unable,
        };
        let text = format!(
            "\n\n[Sent along: {names}. You can't see what is in it: {}. Tell the person so where it matters, and don't \
             guess what it shows.]",
            unseen.reason()
        );
        request.messages[index].parts.push(ModelMessagePart::Text { text });
    }
}

/// Whether a call carries what only some models can be shown.
pub(super) fn has_media(request: &ChatRequest) -> bool {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    parts.into_iter().any(|part| matches!(part, ModelMessagePart::Image(_) | ModelMessagePart::Document(_)))
}

fn can_answer(route: &ModelRoute, request: &ChatRequest, turn: &Turn) -> bool {
    route.candidates(Capability::Default, request, turn.setup.engine.gateway.targets()).is_ok()
}

/// A picture as it is shown to people, a PDF as it is. None for everything else.
async fn load_part(files: &BlobService, tenant: TenantId, file: &AttachedFile) -> Option<ModelMessagePart> {
    let id = parse_reference(&file.reference)?;
    let is_pdf = file.media_type == MediaType::Pdf.as_str();
    let is_picture = file.media_type.parse().is_ok_and(MediaType::is_picture);
    let read = match (is_picture, is_pdf) {
        (true, _) => read_file(files, tenant, id, BlobVariant::Preview).await,
        (_, true) => read_file(files, tenant, id, BlobVariant::Original).await,
        _ => return None,
    };
    let bytes = match read {
        Ok(bytes) => bytes?,
        Err(error) => {
            tracing::warn!(%error, %tenant, file = %id, "a file of a message can't be shown to a model");
            return None;
        }
    };
    let media_type = if is_pdf { MediaType::Pdf } else { MediaType::Jpeg }.to_string();
    let media = ModelMedia { media_type, source: ModelMediaSource::Data(STANDARD.encode(bytes)) };
    Some(if is_pdf { ModelMessagePart::Document(media) } else { ModelMessagePart::Image(media) })
}

/// None where it is too large.
async fn read_file(
    files: &BlobService,
    tenant: TenantId,
    id: BlobId,
    variant: BlobVariant,
) -> munshi_blobs::Result<Option<Vec<u8>>> {
    let content = files.open(tenant, id, variant).await?;
    if variant == BlobVariant::Original && content.blob.size > LARGEST_DOCUMENT {
        return Ok(None);
    }
    content.read_all().await.map(Some)
}

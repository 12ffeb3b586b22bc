import type { ModelCard, ModelKind } from "../../models/model-card.ts";

/** The metadata that the library reads in a file. */
export interface MetadataRules {
  /** Keys of whole numbers. */
  readonly counts?: readonly string[];
  /** Keys of whole numbers with commas. */
  readonly lists?: readonly string[];
  /** Keys of numbers with commas. */
  readonly numbers?: readonly string[];
  /** Keys of texts, with the texts that are allowed. */
  readonly texts?: Readonly<Record<string, readonly string[]>>;
}

type RulesByRole = Readonly<Record<string, MetadataRules>>;

const numbered = (key: string) => [1, 2, 3].map((each) => `${key}${each}`);
const streamingNemo = [
  "vocab_size",
  "window_size",
  "chunk_shift",
  "subsampling_factor",
  ...numbered("cache_last_channel_dim"),
  ...numbered("cache_last_time_dim"),
];
const predictor = ["pred_rnn_layers", "pred_hidden"];
const decoder = { counts: ["vocab_size", "context_size"] };
const stacks = ["encoder_dims", "num_encoder_layers", "cnn_module_kernels", "left_context_len"];
const chunks = ["T", "decode_chunk_len"];
const zipformer2 = {
  lists: [...stacks, "query_head_dims", "value_head_dims", "num_heads"],
  counts: chunks,
};
const frameStacks = ["vocab_size", "lfr_window_size", "lfr_window_shift"];
const normalization = ["neg_mean", "inv_stddev"];

/** The metadata of each kind whose models are all alike, as the library's C++ sources read it. */
const rulesOfKind: Partial<Record<ModelKind, RulesByRole>> = {
  "streaming-nemo-ctc": { model: { counts: streamingNemo } },
  "streaming-zipformer2-ctc": { model: zipformer2 },
  "streaming-paraformer": {
    encoder: {
      counts: [...frameStacks, "encoder_output_size", "decoder_num_blocks", "decoder_kernel_size"],
      numbers: normalization,
    },
  },
  "streaming-t-one-ctc": { model: { counts: ["frame_length_ms", "state_dim", "sample_rate"] } },
  transducer: { decoder },
  "nemo-transducer": { encoder: { counts: ["vocab_size", "subsampling_factor", ...predictor] } },
  diarization: {
    segmentation: {
      counts: [
        "sample_rate",
        "window_size",
        "receptive_field_size",
        "receptive_field_shift",
        "num_speakers",
        "powerset_max_classes",
        "num_classes",
      ],
    },
    embedding: { texts: { framework: ["wespeaker", "3d-speaker", "nemo"] } },
  },
  paraformer: { model: { counts: frameStacks, numbers: normalization } },
  "nemo-ctc": { model: { counts: ["vocab_size", "subsampling_factor"] } },
  "wenet-ctc": { model: { counts: ["vocab_size", "subsampling_factor"] } },
};

/** The metadata of the encoder of a streaming transducer, by its model_type. */
const streamingEncoders: Readonly<Record<string, MetadataRules>> = {
  lstm: { counts: [...chunks, "num_encoder_layers", "rnn_hidden_size", "d_model"] },
  zipformer: { lists: [...stacks, "attention_dims"], counts: chunks },
  zipformer2,
  conformer: {
    counts: [
      ...chunks,
      "num_encoder_layers",
      "left_context",
      "encoder_dim",
      "pad_length",
      "cnn_module_kernel",
    ],
  },
  ebranchformer: {
    counts: [
      ...chunks,
      "num_hidden_layers",
      "hidden_size",
      "intermediate_size",
      "num_heads",
      "csgu_kernel_size",
      "merge_conv_kernel",
      "left_context_len",
      "head_dim",
    ],
  },
};

const senseVoice = [...frameStacks, "normalize_samples"];
const senseVoiceForms = ["with_itn", "without_itn"];
const senseVoiceLanguages = ["auto", "zh", "en", "ja", "ko", "yue"].map((each) => `lang_${each}`);

const whisper = [
  "n_mels",
  "n_text_layer",
  "n_text_ctx",
  "n_text_state",
  "n_vocab",
  "sot",
  "eot",
  "blank_id",
  "translate",
  "transcribe",
  "is_multilingual",
  "no_timestamps",
  "no_speech",
];

/**
 * Returns the metadata that the library requires in the files of a card, by role, as its version
 * 1.13 reads it (csrc/*-model.cc of https://github.com/k2-fsa/sherpa-onnx). What is required may
 * depend on the metadata that was found.
 */
export function metadataRules(
  { kind }: ModelCard,
  found: ReadonlyMap<string, ReadonlyMap<string, string>>,
): RulesByRole {
  const encoder = found.get("encoder");
  if (kind === "sense-voice") {
    // The library reads Fun-ASR-Nano as this kind, and knows it by its comment.
    const isNano = found.get("model")?.get("comment")?.includes("Nano") === true;
    const counts = [...senseVoice, ...senseVoiceForms, ...senseVoiceLanguages];
    return { model: isNano ? { counts: senseVoice } : { counts, numbers: normalization } };
  }
  if (kind === "streaming-transducer") return streamingTransducer(encoder?.get("model_type") ?? "");
  if (kind !== "whisper") return rulesOfKind[kind] ?? {};
  const languages = encoder?.get("is_multilingual") === "1";
  return {
    encoder: {
      counts: whisper,
      lists: ["sot_sequence", ...(languages ? ["all_language_tokens"] : [])],
      texts: languages ? { all_language_codes: ["[a-z]{2,3}(,[a-z]{2,3})*"] } : {},
    },
  };
}

/** A transducer of NeMo, or one whose encoder is of another kind. */
function streamingTransducer(modelType: string): RulesByRole {
  if (modelType.startsWith("EncDec")) {
    return { encoder: { counts: [...streamingNemo, ...predictor] } };
  }
  const known = Object.keys(streamingEncoders);
  const texts = { model_type: [...known, "EncDec.*"] };
  return { encoder: { ...streamingEncoders[modelType], texts }, decoder };
}

// What the package exports as hlust-client/messages: the services and messages of the contract, and
// the details of errors.
export * from "../gen/google/rpc/error_details_pb.ts";
export * from "../gen/hlust/accounts/v1/accounts_pb.ts";
export * from "../gen/hlust/operator/v1/operator_pb.ts";
export * from "../gen/hlust/speech/v2beta1/speech_pb.ts";
export * from "../gen/hlust/speech/v2beta1/vocabulary_pb.ts";
export * from "../gen/hlust/transcripts/v1alpha1/alignment_pb.ts";
export * from "../gen/hlust/transcripts/v1alpha1/draft_pb.ts";
export * from "../gen/hlust/transcripts/v1alpha1/presence_pb.ts";
export * from "../gen/hlust/transcripts/v1alpha1/review_pb.ts";
export * from "../gen/hlust/transcripts/v1alpha1/share_pb.ts";
export * from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
export * from "../gen/hlust/webhooks/v1/webhooks_pb.ts";

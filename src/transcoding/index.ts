// The entry of the package http-transcoding: HTTP requests to messages, and messages to answers, by
// google.api.http rules. Rules as JSON go into TranscoderOptions.rules; the reader of YAML is not
// part of the package, which depends on nothing but @bufbuild/protobuf.
export { ServiceError } from "../std/service-error.ts";
export type { FieldViolation, ServiceErrorOptions } from "../std/service-error.ts";
export type { ErrorCode } from "../std/error-statuses.ts";
export { acceptStream } from "./accept-stream.ts";
export { HttpRuleError } from "./http-rules.ts";
export type { Binding, ConfiguredRule, RuleNotice } from "./http-rules.ts";
export { describeApi } from "./openapi/describe-api.ts";
export type { ApiDescription } from "./openapi/describe-api.ts";
export type { OpenApiDocument } from "./openapi/document.ts";
export { PathTemplateError, parsePathTemplate } from "./path-template.ts";
export { readServices } from "./read-services.ts";
export type { DescribedServices } from "./read-services.ts";
export { registryOf } from "./registry-of.ts";
export { writeStatus } from "./status-json.ts";
export type { StatusAnswer } from "./status-json.ts";
export { eventStream, jsonLines } from "./stream-envelope.ts";
export type { StreamEnvelope } from "./stream-envelope.ts";
export { createTranscoder } from "./transcoder.ts";
export type { Routed, Transcoder, TranscoderOptions } from "./transcoder.ts";
export { writeRequest } from "./write-request.ts";
export type { WrittenRequest } from "./write-request.ts";
export { httpBodyOf } from "./write-response.ts";
export type { HttpContent } from "./write-response.ts";

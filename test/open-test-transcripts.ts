import { join } from "node:path";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type HandlerContext } from "@connectrpc/connect";
import { scopes } from "../src/auth/caller.ts";
import type { Database } from "../src/database/database.ts";
import {
  CreateTranscriptRequestSchema,
  DeleteTranscriptRequestSchema,
  GetTranscriptRequestSchema,
  GetTranscriptVersionRequestSchema,
  InitUploadRequestSchema,
  InitUploadResponseSchema,
  ListTranscriptsRequestSchema,
  ListTranscriptsResponseSchema,
  ListTranscriptVersionsRequestSchema,
  ListTranscriptVersionsResponseSchema,
  RestoreTranscriptRequestSchema,
  SegmentSchema,
  TranscriptMetadata_FileType,
  TranscriptMetadataSchema,
  TranscriptSchema,
  UpdateTranscriptRequestSchema,
  type InitUploadResponse,
  type ListTranscriptsResponse,
  type ListTranscriptVersionsResponse,
  type Segment,
  type Transcript,
  type TranscriptMetadata,
} from "../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { openDiskStore } from "../src/media/disk-store.ts";
import { findMedia, type Media } from "../src/media/media-records.ts";
import type { MediaStore } from "../src/media/media-store.ts";
import { createSignedUrls, type SignedUrls } from "../src/media/signed-url.ts";
import { createUploads, type Uploads } from "../src/media/uploads.ts";
import { defaultAnswers } from "../src/server/answers-in-hand.ts";
import { durationFromMs } from "../src/std/duration.ts";
import { newId } from "../src/std/ids.ts";
import { createLog } from "../src/std/log.ts";
import { createPageTokens } from "../src/std/page-token.ts";
import {
  createTranscriptsService,
  type TranscriptsService,
} from "../src/transcripts/transcripts-service.ts";
import { openTestDatabase } from "./open-test-database.ts";
import { callBy, testCaller } from "./test-caller.ts";

/** The transcripts service on a database and a media folder of its own; all of it is gone when it is disposed of. */
export interface TestTranscripts extends AsyncDisposable {
  readonly db: Database["db"];
  readonly service: TranscriptsService;
  readonly store: MediaStore;
  /** Of the store. */
  readonly mediaFolder: string;
  readonly uploads: Uploads;
  readonly urls: SignedUrls;
  readonly findMedia: (id: string) => Promise<Media | undefined>;
  readonly accountId: string;
  /** The service as the test's own account calls it. */
  readonly client: TranscriptsClient;
  clientFor(accountId: string, headers?: Record<string, string>): TranscriptsClient;
  newAccount(): Promise<string>;
  /** The public address of signed URLs; a server that starts later sets it. */
  publicUrl: string;
}

export const testUploadBytesMax = 1_000_000;

export async function openTestTranscripts(
  options: { readonly now?: () => number; readonly filterMsMax?: number } = {},
): Promise<TestTranscripts> {
  await using opened = new AsyncDisposableStack();
  const { db, folder } = opened.use(await openTestDatabase());
  const log = createLog("silent");
  const mediaFolder = join(folder, "media");
  const store = opened.use(await openDiskStore(mediaFolder, { log }));
  const at = { publicUrl: "http://hlust.test" };
  const urls = createSignedUrls({
    key: Buffer.alloc(32, 1),
    publicUrl: () => at.publicUrl,
    ...(options.now && { now: options.now }),
  });
  const uploads = createUploads({ db, store, urls, uploadBytesMax: testUploadBytesMax, log });
  const pageTokens = createPageTokens(Buffer.alloc(32, 2));
  const service = createTranscriptsService({
    ...options,
    answers: defaultAnswers(),
    db,
    store,
    urls,
    uploads,
    pageTokens,
    log,
  });
  const newAccount = async (): Promise<string> => {
    const id = newId();
    await db.insertInto("account").values({ id, display_name: "test" }).execute();
    return id;
  };
  const accountId = await newAccount();
  const parts = opened.move();
  return {
    db,
    service,
    store,
    mediaFolder,
    uploads,
    urls,
    accountId,
    newAccount,
    findMedia: async (id) => await findMedia(db, id),
    client: clientOf(service, callBy(testCaller(accountId, scopes))),
    clientFor: (account, headers = {}) =>
      clientOf(service, callBy(testCaller(account, scopes), headers)),
    get publicUrl() {
      return at.publicUrl;
    },
    set publicUrl(url) {
      at.publicUrl = url;
    },
    [Symbol.asyncDispose]: async () => await parts.disposeAsync(),
  };
}

type TranscriptInit = MessageInitShape<typeof TranscriptSchema>;
type MetadataFields = Partial<Omit<TranscriptMetadata, "$typeName" | "$unknown">>;

/** Metadata with what is required. */
export function metadataWith(fields: MetadataFields = {}): TranscriptMetadata {
  return create(TranscriptMetadataSchema, {
    fileType: TranscriptMetadata_FileType.AUDIO,
    languageCode: "is-IS",
    ...fields,
  });
}

/** Calls the service as an account, with headers: messages in, messages out. */
function clientOf(service: TranscriptsService, context: HandlerContext) {
  return {
    async create(transcript: TranscriptInit): Promise<string> {
      const request = create(CreateTranscriptRequestSchema, { transcript });
      return (await service.createTranscript(request, context)).name ?? "";
    },
    async get(name: string): Promise<Transcript> {
      const request = create(GetTranscriptRequestSchema, { name });
      return create(TranscriptSchema, await service.getTranscript(request, context));
    },
    async update(transcript: TranscriptInit, ...paths: string[]): Promise<Transcript> {
      const request = create(UpdateTranscriptRequestSchema, { transcript, updateMask: { paths } });
      return create(TranscriptSchema, await service.updateTranscript(request, context));
    },
    async delete(name: string): Promise<void> {
      await service.deleteTranscript(create(DeleteTranscriptRequestSchema, { name }), context);
    },
    async list(
      query: MessageInitShape<typeof ListTranscriptsRequestSchema> = {},
    ): Promise<ListTranscriptsResponse> {
      const request = create(ListTranscriptsRequestSchema, query);
      const response = await service.listTranscripts(request, context);
      return create(ListTranscriptsResponseSchema, response);
    },
    async versions(
      query: MessageInitShape<typeof ListTranscriptVersionsRequestSchema>,
    ): Promise<ListTranscriptVersionsResponse> {
      const request = create(ListTranscriptVersionsRequestSchema, query);
      const response = await service.listTranscriptVersions(request, context);
      return create(ListTranscriptVersionsResponseSchema, response);
    },
    async version(name: string): Promise<Transcript> {
      const request = create(GetTranscriptVersionRequestSchema, { name });
      return create(TranscriptSchema, await service.getTranscriptVersion(request, context));
    },
    async restore(name: string, version: string): Promise<Transcript> {
      const request = create(RestoreTranscriptRequestSchema, { name, version });
      return create(TranscriptSchema, await service.restoreTranscript(request, context));
    },
    async initUpload(resourceName = ""): Promise<InitUploadResponse> {
      const request = create(InitUploadRequestSchema, { resourceName });
      return create(InitUploadResponseSchema, await service.initUpload(request, context));
    },
  };
}

export type TranscriptsClient = ReturnType<typeof clientOf>;

/** One segment a text, a second each. */
export function segmentsOf(...texts: string[]): Segment[] {
  return texts.map((word, index) => {
    const span = {
      startTime: durationFromMs(index * 1000),
      endTime: durationFromMs(index * 1000 + 900),
    };
    return create(SegmentSchema, { ...span, words: [{ ...span, word }] });
  });
}

/** Its words, one after the other. */
export function textOf(transcript: Transcript): string {
  return transcript.segments.flatMap(({ words }) => words.map(({ word }) => word)).join("");
}

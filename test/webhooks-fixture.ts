import { createHmac, randomBytes } from "node:crypto";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import type { Selectable } from "kysely";
import type { Database } from "../src/database/database.ts";
import type { WebhookDeliveryTable } from "../src/database/tables.ts";
import {
  CreateWebhookRequestSchema,
  CreateWebhookResponseSchema,
  type Webhooks,
  type Webhook,
} from "../src/gen/hlust/webhooks/v1/webhooks_pb.ts";
import { parseMediaAllowList } from "../src/media/media-url.ts";
import { newId } from "../src/std/ids.ts";
import { createLog } from "../src/std/log.ts";
import { createPageTokens } from "../src/std/page-token.ts";
import { insertDeliveries } from "../src/webhooks/delivery-store.ts";
import { openDeliveryWorker, type DeliveryWorkerParts } from "../src/webhooks/delivery-worker.ts";
import { createWebhooksService } from "../src/webhooks/webhooks-service.ts";
import { addAccount } from "./auth-fixture.ts";
import { serve } from "./fetch-fixture.ts";
import { openTestDatabase } from "./open-test-database.ts";
import { callBy, testCaller } from "./test-caller.ts";

/** What HLUST_ALLOW_WEBHOOKS_TO is in these tests. */
export const loopbackAllowed = parseMediaAllowList(["127.0.0.1"]);

/** Everything that webhooks need, on a database of the test's. */
export interface WebhooksFixture extends AsyncDisposable {
  readonly database: Database;
  readonly folder: string;
  readonly service: ServiceImpl<typeof Webhooks>;
  addAccount(): Promise<string>;
  call(accountId: string): HandlerContext;
  make(
    accountId: string,
    request: MessageInitShape<typeof CreateWebhookRequestSchema>,
  ): Promise<MadeWebhook>;
  /** As a job that ends does, with data that tells one event from another. */
  tell(accountId: string, data?: unknown): Promise<void>;
  /** All of a webhook, oldest first. */
  deliveries(webhookId: string): Promise<Selectable<WebhookDeliveryTable>[]>;
  /** Sets the clock of everything that waits to an interval from now: "-1 day". */
  shift(interval: string): Promise<void>;
  openWorker(parts?: Partial<DeliveryWorkerParts>): AsyncDisposable;
}

export interface MadeWebhook {
  readonly id: string;
  readonly webhook: Webhook;
  readonly secret: string;
}

export async function openWebhooks(): Promise<WebhooksFixture> {
  const database = await openTestDatabase();
  const { db } = database;
  const log = createLog("silent");
  const pageTokens = createPageTokens(randomBytes(32));
  const service = createWebhooksService({ db, pageTokens, allow: loopbackAllowed, log });
  const call = (accountId: string): HandlerContext => callBy(testCaller(accountId, ["account"]));
  return {
    database,
    folder: database.folder,
    service,
    call,
    addAccount: async () => await addAccount(db),
    async make(accountId, request) {
      const message = create(CreateWebhookRequestSchema, request);
      const made = await service.createWebhook(message, call(accountId));
      const { webhook, secret } = create(CreateWebhookResponseSchema, made);
      if (!webhook) throw new Error("no webhook");
      return { id: webhook.name.split("/")[1] ?? "", webhook, secret };
    },
    async tell(accountId, data = {}) {
      const event = { type: "transcriptjob.succeeded", at: new Date(), data } as const;
      await db
        .transaction()
        .execute(async (trx) => await insertDeliveries(trx, accountId, newId(), event));
    },
    async deliveries(webhookId) {
      return await db
        .selectFrom("webhook_delivery")
        .where("webhook_id", "=", webhookId)
        .selectAll()
        .orderBy("created_at")
        .orderBy("id")
        .execute();
    },
    async shift(interval) {
      await database.pool.query(
        `update webhook_delivery set due_at = due_at + $1::interval, give_up_at = give_up_at + $1::interval,
           created_at = created_at + $1::interval`,
        [interval],
      );
    },
    openWorker: (parts) => openDeliveryWorker({ database, allow: loopbackAllowed, log, ...parts }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

/** A message as it came. */
export interface Received {
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver of webhooks on the loopback; it keeps all that came. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
}

/** `answer` gets the place of the message among all that came: 0, 1, ... Default: 204. */
export async function openReceiver(
  answer: (response: ServerResponse, at: number) => void = (response) => {
    response.writeHead(204).end();
  },
): Promise<Receiver> {
  const received: Received[] = [];
  const server = await serve((request, response) => {
    void text(request).then((body) => {
      const { headers } = request;
      received.push({ id: String(headers["webhook-id"]), headers, body });
      answer(response, received.length - 1);
    });
  });
  return { ...server, received };
}

/** Which of a message's signatures are of this secret, by the words of Standard Webhooks alone: true, false, ... */
export function signedBy(secret: string, { headers, body }: Received): boolean[] {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const content = [headers["webhook-id"], headers["webhook-timestamp"], body].join(".");
  const expected = `v1,${createHmac("sha256", key).update(content).digest("base64")}`;
  return String(headers["webhook-signature"])
    .split(" ")
    .map((each) => each === expected);
}

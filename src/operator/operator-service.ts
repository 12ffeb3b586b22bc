import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import type { AccountLimits } from "../auth/limits.ts";
import type { Tables } from "../database/tables.ts";
import type { Operator } from "../gen/hlust/operator/v1/operator_pb.ts";
import type { Log } from "../std/log.ts";
import type { PageTokens } from "../std/page-token.ts";
import { managedAccountMethods } from "./managed-account-methods.ts";
import { modelMethods } from "./model-methods.ts";
import { nodeMethods } from "./node-methods.ts";
import { queueMethods } from "./queue-methods.ts";

/** Creates the RPCs of hlust.operator.v1. */
export function createOperatorService({
  db,
  pageTokens,
  accountLimits,
  catalogueFile,
  log,
}: {
  readonly db: Kysely<Tables>;
  readonly pageTokens: PageTokens;
  /** The limits of accounts for which no operator has set limits. */
  readonly accountLimits: AccountLimits;
  /** The catalogue of models of this node. */
  readonly catalogueFile: string;
  readonly log: Log;
}): ServiceImpl<typeof Operator> {
  return {
    ...nodeMethods({ db }),
    ...queueMethods({ db }),
    ...managedAccountMethods({ db, pageTokens, accountLimits, log }),
    ...modelMethods({ db, pageTokens, catalogueFile, log }),
  };
}

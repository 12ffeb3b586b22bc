import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  PostgresDialect,
  PostgresDriver,
  type TransactionSettings,
} from "kysely";
import type { ConnectionPool } from "./connection-pool.ts";

/** Kysely's dialect for a pool, with limits on each transaction, even behind a pooler. */
export class BoundedDialect extends PostgresDialect {
  readonly #pool: ConnectionPool;

  constructor(pool: ConnectionPool) {
    super({ pool });
    this.#pool = pool;
  }

  override createDriver(): Driver {
    return new BoundedDriver(this.#pool);
  }
}

class BoundedDriver extends PostgresDriver {
  readonly #pool: ConnectionPool;

  constructor(pool: ConnectionPool) {
    super({ pool });
    this.#pool = pool;
  }

  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    await super.beginTransaction(connection, settings);
    if (!this.#pool.isPooled) return;
    await connection.executeQuery(CompiledQuery.raw(this.#pool.transactionLimits));
  }
}

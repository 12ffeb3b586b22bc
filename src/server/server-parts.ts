import type { DescService } from "@bufbuild/protobuf";
import type { Authenticator } from "../auth/authenticate.ts";
import type { HeldBytes, HeldBytesLimits } from "../std/held-bytes.ts";
import type { CallRecorder, HttpRecorder } from "../metrics/recorders.ts";
import type { Log } from "../std/log.ts";
import type { LongMessages } from "../std/long-messages.ts";
import type { IsInNetworks } from "../std/networks.ts";
import type { ServiceError } from "../std/service-error.ts";
import type { ServiceConfig } from "../transcoding/service-config.ts";
import type { AccessLog } from "./access-log.ts";
import type { AnswerError } from "./answer-errors.ts";
import type { BodyLimits } from "./body-pace.ts";
import type { SocketDialect } from "./dialect-sockets.ts";
import type { ConsoleParts } from "./console-door.ts";
import type { ConsoleFilesParts } from "./console-files.ts";
import type { ReadinessCheck } from "./health.ts";
import type { HttpDoor } from "./http.ts";
import type { ImplementedService } from "./methods.ts";
import type { PortAddress, PortLimits } from "./port.ts";
import type { TusParts } from "./tus-door.ts";

/** The address on which the server listens, its certificate, and the connection limits. */
export interface ListenOptions extends PortAddress {
  readonly limits?: Partial<PortLimits>;
}

/** The methods that are served, and the authenticator of their callers. */
export interface ServedApi {
  readonly services: readonly ImplementedService[];
  readonly authenticator: Authenticator;
  /** The HTTP rules that replace those of the contract. */
  readonly httpRules?: ServiceConfig | undefined;
  /**
   * Returns what clients may know about a failure behind the methods, such as an unavailable
   * database. Default: nothing.
   */
  readonly explain?: (error: unknown) => ServiceError | undefined;
}

/** The addresses of the service and of its clients. */
export interface Network {
  /**
   * The public address of the service, without a trailing slash. The address is known once the
   * server listens. If undefined, there is no API reference.
   */
  readonly publicUrl?: () => string;
  /** The proxies whose X-Forwarded-For header is trusted. Default: none. */
  readonly isTrustedProxy?: IsInNetworks;
  /**
   * The origins of other web pages that may call the service; anyOrigin for all. Default: none.
   */
  readonly allowedOrigins?: readonly string[];
  /** The e-mail address or URL for access requests. */
  readonly contact?: string | undefined;
}

export interface HealthOptions {
  readonly checks: readonly ReadinessCheck[];
  /**
   * Returns the use of the readiness checks to which a service belongs; undefined if the service
   * needs every part. Default: undefined for every service.
   */
  readonly useOf?: (service: DescService) => string | undefined;
  /** Returns whether the models found at the start are still loading. Default: false. */
  readonly isStarting?: () => boolean;
}

/** The memory and time limits of requests and responses. */
export interface TrafficLimits {
  readonly bodyLimits?: BodyLimits;
  readonly requestBytes?: HeldBytesLimits;
  /** The memory for responses. */
  readonly answers?: HeldBytes;
  /** Reads messages with long lists. If undefined, no method accepts such messages. */
  readonly longMessages?: LongMessages;
}

/** What a door outside of the contract needs to answer calls as the other doors do. */
export interface DialectCalls {
  readonly authenticator: Authenticator;
  readonly answerError: AnswerError;
  /** Aborts the calls that are left when the service shuts down. */
  readonly shutdownSignal: AbortSignal;
  /** Returns whether new calls are refused, because the service is shutting down. */
  readonly refuses: () => boolean;
  /** Records calls, for the metrics of the node. */
  readonly recorder: CallRecorder;
}

export interface ServerParts {
  readonly api: ServedApi;
  readonly network?: Network;
  readonly health?: HealthOptions;
  readonly traffic?: TrafficLimits;
  /** The door for signed URLs. */
  readonly media?: HttpDoor | undefined;
  /** The door for shared transcripts. */
  readonly shared?: HttpDoor | undefined;
  /** Creates the door of other services' protocols; undefined if there is none. */
  readonly dialects?: ((calls: DialectCalls) => HttpDoor) | undefined;
  /** The protocols of other services over WebSocket. Default: none. */
  readonly socketDialects?: readonly SocketDialect[] | undefined;
  /** The parts of resumable uploads; undefined if there are none. */
  readonly resumable?: TusParts | undefined;
  /** The parts of the console; undefined if there is no console. */
  readonly console?: (ConsoleParts & ConsoleFilesParts) | undefined;
  /** Further doors, such as that of the metrics. Default: none. */
  readonly others?: readonly HttpDoor[];
  /** Records calls and requests, for the metrics of the node. */
  readonly recorder?: (CallRecorder & HttpRecorder) | undefined;
  /** The log of calls; undefined if there is none. */
  readonly access?: AccessLog | undefined;
  readonly log: Log;
}

import type { TrustThresholds } from "@agent/routing-semiring";
import type { VerifierKey } from "@agent/transparency";
import type { WitnessAddress } from "./config-values.ts";

/** All settings of a relay, validated. It holds secrets and must never be logged. */
export interface Config {
  /** One or two bearer tokens of the operator. */
  readonly apiTokens: readonly string[];
  /** The file that the tokens were read from, if any. */
  readonly apiTokenFile: string | undefined;
  readonly server: {
    readonly host: string;
    readonly port: number;
    /** The public address of the relay, without a slash at the end. */
    readonly baseUrl: string | undefined;
    readonly corsOrigins: "*" | readonly string[];
    /** IP addresses and CIDR ranges. */
    readonly trustedProxies: readonly string[];
    readonly rateLimitScale: number;
    readonly logLevel: "debug" | "info" | "warn" | "error";
    /** The pages for browsers; `verify` serves only those that need no session. */
    readonly console: "on" | "off" | "verify";
  };
  readonly storage: {
    /** `:memory:` unless a file is configured. */
    readonly databasePath: string;
    /** A PostgreSQL database, used instead of a file. */
    readonly databaseUrl: string | undefined;
    readonly databasePool: number;
    /** Where processes notify each other; undefined if they do not. */
    readonly databaseListenUrl: string | undefined;
    /** Names this process among those that share the database. */
    readonly processName: string | undefined;
    /** 0 keeps tasks for ever. */
    readonly retentionDays: number;
  };
  readonly identity: {
    readonly relayName: string;
    /** Without it the key is stored in plain text. */
    readonly keyPassphrase: string | undefined;
    readonly issueCredentials: boolean;
  };
  readonly agents: {
    readonly requireBootstrapProof: boolean;
    readonly pairingTtlMs: number;
    readonly privateEndpoints: "auto" | "allow" | "block";
  };
  readonly tasks: {
    readonly ttlMs: number;
    readonly ttlMaxMs: number;
    readonly requireMaxBudget: boolean;
  };
  readonly payments: {
    /** A fraction from 0 to below 1 with at most 6 decimals. */
    readonly platformFeeRate: number;
    readonly payToAddress: string;
    /** False with the all-zero address, which leaves only virtual accounts. */
    readonly realPayments: boolean;
    /** Without it card deposits are off. */
    readonly cardSecretKey: string | undefined;
    readonly cardWebhookSecret: string | undefined;
    readonly cardHoldMs: number;
    /** Without it the default of the processor's library is used. */
    readonly cardApiBase: string | undefined;
    readonly x402: {
      readonly facilitatorUrl: string;
      /** CAIP-2, of the form eip155:<chain id>. */
      readonly network: string;
      readonly asset: string;
      /** Name and version of the asset's EIP-712 domain. */
      readonly assetName: string;
      readonly assetVersion: string;
    };
  };
  readonly disputes: {
    readonly answerMs: number;
    readonly decisionMs: number;
    /** A fraction from 0 to 0.5 with at most 6 decimals. */
    readonly feeRate: number;
    /** USD, at most 6 decimals. */
    readonly feeMin: number;
    readonly windowMinMs: number;
  };
  readonly books: { readonly reconcileIntervalMs: number };
  readonly trust: {
    /** In micro-units; 0 demands no fees. */
    readonly thresholds: TrustThresholds;
  };
  readonly log: {
    readonly isOn: boolean;
    /** Without it the log is named after the relay's id. */
    readonly origin: string | undefined;
    readonly intervalMs: number;
    /** The number of cosignatures that a head needs before it is published. */
    readonly quorum: number;
  };
  readonly federation: {
    /** Without it federation is off. */
    readonly endpointUrl: string | undefined;
    readonly maxPeers: number;
    /** Without it any relay may peer. */
    readonly allowedPeers: readonly string[] | undefined;
    readonly blockedPeers: readonly string[];
    readonly autoAcceptPeers: boolean;
    /** USD, at most 6 decimals. */
    readonly creditLimit: number;
    readonly heartbeatIntervalMs: number;
    readonly maxHops: number;
    readonly retryScale: number;
  };
  readonly witness: {
    /** Whether the relay cosigns the logs of its peers and those of `logs`. */
    readonly isOn: boolean;
    readonly logs: readonly VerifierKey[];
    /** The witnesses of the relay's own log, besides its active peers. */
    readonly asked: readonly WitnessAddress[];
    readonly askIntervalMs: number;
  };
}

import type { Services } from "../services.ts";
import type { EndpointBackoff } from "./endpoints/endpoint-backoff.ts";
import type { OpenCalls } from "./endpoints/open-calls.ts";

export type RouteDependencies = Pick<
  Services,
  | "storage"
  | "freezer"
  | "runtime"
  | "clock"
  | "config"
  | "log"
  | "waiters"
  | "subscriptions"
  | "trustGraph"
  | "connections"
  | "remoteDevices"
  | "processes"
  | "egress"
  | "identity"
  | "federation"
>;

export type RouteServices = RouteDependencies & {
  readonly backoff: EndpointBackoff;
  readonly calls: OpenCalls;
  /** Aborted when the relay closes: failures after that do not count against an executor. */
  readonly closing: AbortSignal;
};

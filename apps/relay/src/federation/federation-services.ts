import type { Services } from "../services.ts";
import type { Federation } from "./federation.ts";

/** The parts of a relay that its dealings with other relays need. */
export type FederationDependencies = Pick<
  Services,
  | "config"
  | "runtime"
  | "log"
  | "storage"
  | "freezer"
  | "identity"
  | "connections"
  | "waiters"
  | "subscriptions"
  | "egress"
  | "trustGraph"
>;

/** The same of a relay whose federation is on. */
export type FederationServices = FederationDependencies & { readonly federation: Federation };

import type { Quorum } from "@agent/wire";

/** The quorum of the configuration. */
export interface ConfiguredQuorum extends Quorum {
  /** Whether the relay and the approvers get the arguments of a call, beside their hash. */
  readonly showsArguments: boolean;
}

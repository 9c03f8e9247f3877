import { listCountedNetworks, type NetworkSize } from "@agent/ip-networks";

/** The limit of a counted network. */
export interface ClientLimit {
  /** The name of the network. */
  readonly network: string;
  readonly limit: number;
}

/**
 * The number of clients whose combined limit a network gets. A line with a /48 has 65,536 networks of /64
 * and would otherwise have as many limits; an honest neighbour in it is refused only if all together use
 * the limits of 16 clients.
 */
const MULTIPLES: Readonly<Record<NetworkSize, number>> = {
  address: 1,
  "/64": 1,
  "/56": 4,
  "/48": 16,
};

/** Lists the networks of an address, each with its limit, where one client has `limit`. The smallest is first. */
export function listClientLimits(address: string, limit: number): readonly ClientLimit[] {
  return listCountedNetworks(address).map(({ name, size }) => ({
    network: name,
    limit: limit * MULTIPLES[size],
  }));
}

export { createClientAddressFinder, type FindClientAddress } from "./client-address.ts";
export { listCountedNetworks, type CountedNetwork, type NetworkSize } from "./counted-networks.ts";
export { canonicalizeAddress, createAddressMatcher, parseCidr, type Cidr } from "./ip-address.ts";

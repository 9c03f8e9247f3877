import { describeImplied, describeRefusals, describeSuccesses } from "./describe-contract.ts";
import { createProxyCarrier } from "./proxied.ts";

const carry = createProxyCarrier();
describeSuccesses(carry);
describeRefusals(carry);
describeImplied(carry);

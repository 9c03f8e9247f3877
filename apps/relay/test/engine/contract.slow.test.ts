import { describeSuccesses } from "../contract/describe-contract.ts";

// All of the contract runs on Postgres in `pnpm test:postgres`; here each operation succeeds once in
// each way, which runs nearly every statement.
describeSuccesses();

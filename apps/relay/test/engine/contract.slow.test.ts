import { describeSuccesses } from "../contract/describe-contract.ts";

// The whole contract runs on Postgres in `pnpm test:postgres`. Here each operation only succeeds once in each
// way, which runs nearly every statement.
describeSuccesses();

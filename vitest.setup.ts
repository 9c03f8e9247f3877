import fc from "fast-check";

/**
 * Properties draw the same examples in every run, so a change is judged by what it changes.
 * `pnpm test:properties` draws new ones: it sets AGENT_TEST_SEED to `new`. A failure names its seed, which
 * can be set here as well.
 */
const seed = process.env["AGENT_TEST_SEED"] ?? "1";
if (seed !== "new") fc.configureGlobal({ seed: Number(seed) });

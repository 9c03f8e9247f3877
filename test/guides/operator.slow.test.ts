import { testGuide } from "./test-guide.ts";

testGuide("operator.md");

import { MACOS_CHECKS } from "../../agent/checks/macos/all.ts";
import { findFacts } from "../../agent/facts/macos.ts";
import { testHostileOutput } from "./hostile-tests.ts";
import { BAD_MAC, GOOD_MAC } from "./recordings/macos.ts";

testHostileOutput({
	checks: MACOS_CHECKS,
	findFacts,
	good: GOOD_MAC,
	bad: BAD_MAC,
});

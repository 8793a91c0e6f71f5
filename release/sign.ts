import { resolve } from "node:path";
import { Command } from "commander";
import { gpgSigner } from "../agent/packages/repositories.ts";
import { requireTools } from "../agent/packages/run-tool.ts";
import { writeChecksums } from "./checksums.ts";

const program = new Command("sign:release")
	.description("Make the checksums of a release again, after a file was added.")
	.argument("<folder>", "the files of the release")
	.requiredOption("--sign-with <key>", "id of the gpg key that signs the files")
	.parse();
const { signWith } = program.opts<{ signWith: string }>();
requireTools(["gpg"]);
writeChecksums(resolve(program.args[0] as string), gpgSigner(signWith));

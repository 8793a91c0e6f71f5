/**
 * An Assay process with nothing but the database: opens the folder, prints one JSON line, and
 * closes when standard input ends. `kill -9` it at any moment.
 */
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { openEmbeddedPostgres } from "../../src/db/embedded.ts";
import type { EmbeddedProcessOptions } from "./embedded.ts";

const {
	dataDir,
	baseFolder,
	packageFile,
	uid,
	idleMs,
}: EmbeddedProcessOptions = JSON.parse(process.argv[2] ?? "{}");
// The `uid` option of spawn would not do: the user may be unable to enter the folder of the
// checkout and of Node. By now this process has loaded all its code.
if (uid) {
	process.setgroups?.([uid]);
	process.setgid?.(uid);
	process.setuid?.(uid);
}
try {
	const { connection, origin, directory, pid, close } =
		await openEmbeddedPostgres(dataDir, {
			baseFolder,
			...(idleMs !== undefined && { idleMs }),
			resolvePackage: (name) =>
				packageFile || createRequire(import.meta.url).resolve(name),
		});
	console.log(JSON.stringify({ connection, origin, directory, pid }));
	await text(process.stdin);
	await close();
} catch (error) {
	console.log(JSON.stringify({ error: String(error) }));
}

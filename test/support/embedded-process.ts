/**
 * An Assay process that only has the embedded database. It opens the folder, prints one line of
 * JSON, and closes the database when standard input ends. A test may kill it at any moment.
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
// The process changes its user here, after it has loaded all its code. The `uid` option of spawn
// would not work, because the user may not be able to enter the folders of the checkout and of
// Node.
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

/**
 * An Assay process with nothing but the database: opens the folder in argv, prints one
 * JSON line, and closes when standard input ends. `kill -9` it at any moment.
 */
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { openEmbeddedPostgres } from "../../src/db/embedded.ts";

const [dataDir = "", baseFolder = "", packageFile] = process.argv.slice(2);
try {
	const { connection, origin, directory, pid, close } =
		await openEmbeddedPostgres(dataDir, {
			baseFolder,
			resolvePackage: (name) =>
				packageFile || createRequire(import.meta.url).resolve(name),
		});
	console.log(JSON.stringify({ connection, origin, directory, pid }));
	await text(process.stdin);
	await close();
} catch (error) {
	console.log(JSON.stringify({ error: String(error) }));
}

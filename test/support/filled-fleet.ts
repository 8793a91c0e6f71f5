import { createDatabase } from "./database.ts";
import { type TestFleet, withOperations } from "./devices.ts";
import { startServiceOn } from "./service.ts";

/** A database that was filled once. The tests of a file copy it, because filling takes far longer. */
export interface FilledFleet {
	/** Returns a copy. No service runs on it. */
	copy: () => Promise<TestFleet>;
	/** Returns a copy with a service of its own, for a test whose devices send requests. */
	copyWithService: () => Promise<TestFleet>;
	drop: () => Promise<void>;
}

/** Ends the service of a fleet, so that its database can be copied. */
export async function keepFilled({ assay }: TestFleet): Promise<FilledFleet> {
	await assay.service.close();
	await assay.database.disconnect();
	const copyDatabase = () => createDatabase(undefined, assay.database.name);
	return {
		copy: async () => {
			const database = await copyDatabase();
			const close = () => database.drop();
			return withOperations({ ...assay, database, close });
		},
		copyWithService: async () =>
			withOperations(await startServiceOn(await copyDatabase(), assay)),
		drop: () => assay.database.drop(),
	};
}

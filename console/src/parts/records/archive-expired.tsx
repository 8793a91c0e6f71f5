import { Button } from "@mantine/core";
import { useState } from "react";
import { call } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { dayShown } from "../../past.ts";
import { forgetReadings } from "../../queries.ts";
import { Confirm } from "../confirm.tsx";
import type { Evidence } from "./evidence-panel.tsx";

/** Archives a piece of evidence that no longer counts, for somebody who has added a newer one. */
export function ArchiveExpired({ evidence }: { evidence: Evidence }) {
	const { organizationId, mayWriteKind } = useOrganization();
	const [isAsking, setAsking] = useState(false);
	const { id, name, valid_until: until, archived_at: archivedAt } = evidence;
	const isExpired = until !== null && until < dayShown();
	if (!isExpired || archivedAt !== null || !mayWriteKind("evidence"))
		return null;
	return (
		<>
			<Button
				variant="default"
				size="compact-xs"
				aria-label={`Archive ${name}`}
				onClick={() => setAsking(true)}
			>
				Archive
			</Button>
			<Confirm
				opened={isAsking}
				onClose={() => setAsking(false)}
				title={`Archive “${name}”?`}
				action="Archive the evidence"
				isDangerous={false}
				onConfirm={async () => {
					await call("archiveRecords", {
						organization_id: organizationId,
						record_ids: [id],
					});
					await forgetReadings();
				}}
			>
				Do this when newer evidence has taken its place. Nobody is reminded of
				it any more. It stays with its file and its links.
			</Confirm>
		</>
	);
}

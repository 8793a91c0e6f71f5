import { Group, Stack, Text, Title } from "@mantine/core";
import { StatusBadge } from "../../../parts/status-badge.tsx";
import { RelativeTime } from "../../../parts/time.tsx";
import type { Version } from "./statuses.ts";

/** Lists what the approvers decided about a version. Shows nothing without a decision. */
export function Approvals({ version: { approvals } }: { version: Version }) {
	if (approvals.length === 0) return null;
	return (
		<section aria-label="Approvals">
			<Title order={3} fz="md" mb="xs">
				Approvals
			</Title>
			<Stack component="ul" gap="xs" p={0} m={0} style={{ listStyle: "none" }}>
				{approvals.map((one) => (
					<li key={`${one.person_name} ${one.decided_at}`}>
						<Group gap="xs">
							<StatusBadge
								tone={one.decision === "APPROVED" ? "good" : "bad"}
								label={one.decision === "APPROVED" ? "Approved" : "Rejected"}
							/>
							<Text size="sm">
								{one.person_name}
								{one.user_name !== null &&
									one.user_name !== one.person_name &&
									` (signed in as ${one.user_name})`}
								, <RelativeTime value={one.decided_at} />
								{one.decision === "APPROVED" &&
									!one.is_current &&
									" (of an earlier state)"}
							</Text>
						</Group>
						{one.note && (
							<Text size="sm" mt={4} style={{ whiteSpace: "pre-wrap" }}>
								{one.note}
							</Text>
						)}
					</li>
				))}
			</Stack>
		</section>
	);
}

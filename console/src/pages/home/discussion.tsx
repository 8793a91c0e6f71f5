import { Group } from "@mantine/core";
import { useOrganization } from "../../organization.ts";
import { PlainText } from "../../parts/plain-text.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import type { Overview } from "./due-work.tsx";
import styles from "./home.module.css";
import { Section } from "./home-section.tsx";

/** Lists new comments that mention the reader or are on records that the reader watches. */
export function Discussion({ comments }: { comments: Overview["discussion"] }) {
	const { organizationId } = useOrganization();
	if (comments.length === 0) return null;
	return (
		<Section title="Comments for you">
			<ul className={styles.rows}>
				{comments.map((comment) => (
					<li key={comment.comment_id} className={styles.row}>
						<Group gap="xs">
							<RecordLink
								organizationId={organizationId}
								kind={comment.kind}
								id={comment.record_id}
							>
								{comment.record_name ?? "Unnamed"}
							</RecordLink>
							{comment.is_mention && (
								<StatusBadge tone="warning" label="Mentions you" />
							)}
						</Group>
						<PlainText
							size="sm"
							lineClamp={2}
							style={{ overflowWrap: "anywhere" }}
						>
							{comment.text}
						</PlainText>
						<PlainText size="xs" c="dimmed">
							{comment.author_name}, <RelativeTime value={comment.created_at} />
						</PlainText>
					</li>
				))}
			</ul>
		</Section>
	);
}

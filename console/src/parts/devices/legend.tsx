import { Group, Text } from "@mantine/core";
import styles from "./postures.module.css";

/** Says what the parts of a bar mean, each with its color and pattern. */
export function LegendOf({
	entries,
}: {
	entries: readonly { label: string; className: string | undefined }[];
}) {
	return (
		<Group gap="md" component="ul" p={0} m={0} style={{ listStyle: "none" }}>
			{entries.map(({ label, className }) => (
				<Group key={label} gap={6} component="li" wrap="nowrap">
					<span className={`${styles.swatch} ${className}`} aria-hidden />
					<Text size="xs" c="dimmed">
						{label}
					</Text>
				</Group>
			))}
		</Group>
	);
}

import {
	Group,
	SegmentedControl,
	Stack,
	Text,
	useMantineColorScheme,
} from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { operationQuery } from "../../queries.ts";
import { useDensity } from "../../shell/density.ts";
import { Section } from "./account-section.tsx";
import { OwnOrganizations } from "./own-organizations.tsx";
import { Passkeys } from "./passkeys.tsx";
import { PasswordForm } from "./password-form.tsx";
import { type Profile, ProfileForm } from "./profile-form.tsx";
import { Sessions } from "./sessions.tsx";
import { TwoFactor } from "./two-factor.tsx";

/** Shows the user's own account, which is the same in every organization. */
export function Page() {
	const found = useQuery(operationQuery("getProfile", {}));
	const profile = found.data?.profile;
	return (
		<>
			<PageHeader
				title="Account and security"
				description="These settings are yours and apply in all your organizations."
			/>
			{found.isError ? (
				<ErrorState error={found.error} onRetry={found.refetch} />
			) : !profile ? (
				<RowsSkeleton rows={10} />
			) : (
				<Stack maw={720} gap="lg">
					{profile.is_confined ? (
						<ConfinedProfile profile={profile} />
					) : (
						<WholeAccount profile={profile} />
					)}
					<Section
						title="Appearance"
						description="Applies to this browser."
						action={
							<Group gap="xs">
								<ColorScheme />
								<RowsOfLists />
							</Group>
						}
					/>
					{!profile.is_confined && (
						<OwnOrganizations organizations={profile.organizations} />
					)}
				</Stack>
			)}
		</>
	);
}

function WholeAccount({ profile }: { profile: Profile }) {
	return (
		<>
			<Section title="Profile">
				<ProfileForm profile={profile} />
			</Section>
			{profile.has_password ? (
				<>
					<Section title="Password">
						<PasswordForm email={profile.email} />
					</Section>
					<TwoFactor profile={profile} />
					<Passkeys />
				</>
			) : (
				<Section
					title="Password"
					description={`You have none. You sign in with ${profile.provider ?? "your company's identity provider"}. A second factor and passkeys are set up there.`}
				/>
			)}
			<Sessions />
		</>
	);
}

/** Shows whose account it is to a session that cannot change the account. */
function ConfinedProfile({
	profile: { name, email, provider },
}: {
	profile: Profile;
}) {
	return (
		<Section
			title="Profile"
			description={`You signed in with ${provider}, which vouches for you in one organization only. To change your account, sign in another way, or ask an administrator of the organization to verify the domain of your address.`}
		>
			<Text fw={500}>{name}</Text>
			<Text size="sm">{email}</Text>
		</Section>
	);
}

function ColorScheme() {
	const { colorScheme, setColorScheme } = useMantineColorScheme();
	return (
		<SegmentedControl
			aria-label="Light or dark"
			value={colorScheme}
			onChange={(value) => setColorScheme(value as typeof colorScheme)}
			data={[
				{ value: "light", label: "Light" },
				{ value: "dark", label: "Dark" },
				{ value: "auto", label: "System" },
			]}
		/>
	);
}

function RowsOfLists() {
	const [density, setDensity] = useDensity();
	return (
		<SegmentedControl
			aria-label="Rows of lists"
			value={density}
			onChange={(value) => setDensity(value as typeof density)}
			data={[
				{ value: "comfortable", label: "Comfortable" },
				{ value: "compact", label: "Compact" },
			]}
		/>
	);
}

/** Out of sight: tells a password manager whose the password beside it is. */
export function AccountName({ email }: { email: string }) {
	return (
		<input
			type="email"
			name="username"
			autoComplete="username"
			value={email}
			readOnly
			hidden
		/>
	);
}

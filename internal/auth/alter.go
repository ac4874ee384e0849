package auth

// MayAlter checks that a user may change what others have published or hold: messages of a queue, or those that an exchange
// delays. The permission to read does not allow that, nor one that is given out for bindings: it takes those to publish there, or a
// tag. Error: that of Check.
func MayAlter(p Permissions, user User, vhost string, at Resource) error {
	if user.HasTag("administrator") || user.HasTag("policymaker") {
		return nil
	}
	if at.Kind == Queue {
		if err := p.Check(user, vhost, Resource{Kind: Exchange}, Write); err != nil {
			return err
		}
	}
	return p.Check(user, vhost, at, Write)
}

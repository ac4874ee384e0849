package auth

// Unchecked permits everything. It is for operations of administrators on virtual hosts where they have no permissions,
// such as the import of definitions.
type Unchecked struct{}

var _ Permissions = Unchecked{}

// Generation implements Permissions.
func (Unchecked) Generation() uint64 { return 0 }

// VHostAccess implements Permissions.
func (Unchecked) VHostAccess(User, string) error { return nil }

// Check implements Permissions.
func (Unchecked) Check(User, string, Resource, Permission) error { return nil }

// HasTopics implements Permissions.
func (Unchecked) HasTopics(User, string, string) bool { return false }

// CheckTopic implements Permissions.
func (Unchecked) CheckTopic(User, string, string, string, Permission) error { return nil }

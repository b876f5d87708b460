// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// libvqpcni.so: CNI's libcni for programs in C. vqpcni.h says what it does.
package main

/*
#include "vqpcni.h"
*/
import "C"

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/invoke"
	"github.com/containernetworking/cni/pkg/utils"
)

// What plugins need to find iptables and the like; who loaded this may have no PATH at all.
const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// An attachment with what libcni wants to know of it.
type attachment struct {
	name    string
	confDir string
	binDirs []string
	cni     *libcni.CNIConfig
	runtime *libcni.RuntimeConf
	timeout time.Duration
}

func newAttachment(a *C.struct_vqpcni_attachment) *attachment {
	binDirs := filepath.SplitList(C.GoString(a.bin_dirs))
	return &attachment{
		name:    C.GoString(a.list),
		confDir: C.GoString(a.conf_dir),
		binDirs: binDirs,
		cni:     libcni.NewCNIConfigWithCacheDir(binDirs, C.GoString(a.cache_dir), nil),
		runtime: &libcni.RuntimeConf{
			ContainerID: C.GoString(a.container),
			NetNS:       C.GoString(a.netns),
			IfName:      C.GoString(a.ifname),
		},
		timeout: time.Duration(a.timeout_s) * time.Second,
	}
}

// Names are parts of file names.
func (a *attachment) validate() error {
	if err := utils.ValidateContainerID(a.runtime.ContainerID); err != nil {
		return err
	}
	if err := utils.ValidateNetworkName(a.name); err != nil {
		return err
	}
	if err := utils.ValidateInterfaceName(a.runtime.IfName); err != nil {
		return err
	}
	return nil
}

// The list that is in the directory of lists.
func (a *attachment) load() (*libcni.NetworkConfigList, error) {
	list, err := libcni.LoadConfList(a.confDir, a.name)
	switch err.(type) {
	case nil:
		return list, nil
	case libcni.NotFoundError, libcni.NoConfigsFoundError:
		return nil, fmt.Errorf("there is no network list %q in %s: write one, as %s",
			a.name, a.confDir, filepath.Join(a.confDir, a.name+".conflist"))
	}
	return nil, fmt.Errorf("cannot read the network lists in %s: %w", a.confDir, err)
}

// The list by which the container was attached, nil if it was not.
func (a *attachment) attached() (*libcni.NetworkConfigList, error) {
	config, _, err := a.cni.GetNetworkListCachedConfig(&libcni.NetworkConfigList{Name: a.name}, a.runtime)
	if err != nil || config == nil {
		return nil, err
	}
	return libcni.ConfListFromBytes(config)
}

func (a *attachment) findPlugins(list *libcni.NetworkConfigList) error {
	for _, plugin := range list.Plugins {
		if _, err := invoke.FindInPath(plugin.Network.Type, a.binDirs); err != nil {
			return fmt.Errorf("network list %q: %w: install the plugin, Debian's are in containernetworking-plugins",
				a.name, err)
		}
	}
	return nil
}

// DelNetworkList ends with the first plugin that fails; those before it in the list are to be asked as well.
func (a *attachment) detach(ctx context.Context, list *libcni.NetworkConfigList) error {
	var first error
	for count := len(list.Plugins); count > 0; count-- {
		part := *list
		part.Plugins = list.Plugins[:count]
		err := a.cni.DelNetworkList(ctx, &part, a.runtime)
		if err == nil {
			break
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func (a *attachment) add(ctx context.Context) (string, error) {
	list, err := a.load()
	if err == nil {
		err = a.findPlugins(list)
	}
	if err != nil {
		return "", err
	}
	if err = a.deleteLost(ctx); err != nil {
		return "", err
	}
	result, err := a.cni.AddNetworkList(ctx, list, a.runtime)
	if err != nil {
		return "", a.undo(list, fmt.Errorf("network list %q: %w", a.name, err))
	}
	text, err := json.Marshal(result)
	return string(text), err
}

// What is known to be attached before it is has outlived a crash, and its network namespace has not.
func (a *attachment) deleteLost(ctx context.Context) error {
	lost, err := a.attached()
	if err != nil || lost == nil {
		return err
	}
	now := a.runtime.NetNS
	a.runtime.NetNS = ""
	defer func() { a.runtime.NetNS = now }()
	if err = a.detach(ctx, lost); err != nil {
		return fmt.Errorf("network list %q: cannot delete what an earlier container %s left: %w",
			a.name, a.runtime.ContainerID, err)
	}
	return nil
}

// With time of its own: there may be none left.
func (a *attachment) undo(list *libcni.NetworkConfigList, reason error) error {
	ctx, cancel := context.WithTimeout(context.Background(), a.timeout)
	defer cancel()
	if err := a.detach(ctx, list); err != nil {
		return fmt.Errorf("%w; and undoing it: %v", reason, err)
	}
	return reason
}

func (a *attachment) check(ctx context.Context) (string, error) {
	list, err := a.attached()
	if err != nil {
		return "", err
	}
	if list == nil {
		return "", fmt.Errorf("container %s is not attached to network list %q", a.runtime.ContainerID, a.name)
	}
	return "", a.cni.CheckNetworkList(ctx, list, a.runtime)
}

func (a *attachment) del(ctx context.Context) (string, error) {
	list, err := a.attached()
	if err != nil || list == nil {
		list, err = a.load()
	}
	if err != nil {
		return "", err
	}
	return "", a.detach(ctx, list)
}

// A call from C: nothing that goes wrong in it may end the caller.
func call(c *C.struct_vqpcni_attachment, text **C.char,
	do func(a *attachment, ctx context.Context) (string, error)) (status C.int) {
	defer func() {
		if fault := recover(); fault != nil {
			*text = C.CString(fmt.Sprint(fault))
			status = -1
		}
	}()
	a := newAttachment(c)
	ctx, cancel := context.WithTimeout(context.Background(), a.timeout)
	defer cancel()
	answer, err := "", a.validate()
	if err == nil {
		answer, err = do(a, ctx)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("not done within %v: %w", a.timeout, err)
		}
		*text = C.CString(err.Error())
		return -1
	}
	*text = C.CString(answer)
	return 0
}

//export vqpcni_add
func vqpcni_add(c *C.struct_vqpcni_attachment, text **C.char) C.int {
	return call(c, text, (*attachment).add)
}

//export vqpcni_check
func vqpcni_check(c *C.struct_vqpcni_attachment, text **C.char) C.int {
	return call(c, text, (*attachment).check)
}

//export vqpcni_del
func vqpcni_del(c *C.struct_vqpcni_attachment, text **C.char) C.int {
	return call(c, text, (*attachment).del)
}

func init() {
	os.Clearenv()
	os.Setenv("PATH", path)
}

func main() {}
